/**
 * Work that never runs twice at once. Whoever asks while it runs gets one more round after it, however many ask.
 */
export class Serial {
  private running: Promise<void> | undefined;
  private again = false;

  constructor(private readonly work: () => Promise<void>) {}

  /** Resolves when a round that began after this call is over; rejects where the last round failed. */
  run(): Promise<void> {
    if (this.running !== undefined) {
      this.again = true;
      return this.running;
    }
    this.running = this.rounds().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  /** A failure of a round that is followed by another one is of no interest. */
  private async rounds(): Promise<void> {
    this.again = false;
    try {
      await this.work();
    } catch (error) {
      if (!this.isAskedAgain()) {
        throw error;
      }
    }
    // Whoever asked meanwhile has set it.
    if (this.isAskedAgain()) {
      await this.rounds();
    }
  }

  private isAskedAgain(): boolean {
    return this.again;
  }
}
