/** What the unit tests need of the editor's API. */

type Listener<T> = (event: T) => void;

export class EventEmitter<T> {
  private readonly listeners = new Set<Listener<T>>();

  readonly event = (listener: Listener<T>): { dispose(): void } => {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  };

  fire(event: T): void {
    for (const listener of this.listeners) {
      listener(event);
    }
  }

  dispose(): void {
    this.listeners.clear();
  }
}

/** The extensions that are installed, by their ids, each with what its activation resolves to. */
export const installed = new Map<string, () => Promise<unknown>>();

export const extensions = {
  getExtension(id: string): { activate(): Promise<unknown> } | undefined {
    const activate = installed.get(id);
    return activate && { activate };
  },
};
