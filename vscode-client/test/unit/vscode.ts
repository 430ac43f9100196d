/** What the unit tests need of the editor's API. */

export {};
