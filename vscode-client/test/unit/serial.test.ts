import { expect, it } from "vitest";
import { Crashes } from "../../src/server/crashes";
import { Serial } from "../../src/server/serial";

/** Work that ends when it is told to. */
function gates() {
  const open: (() => void)[] = [];
  const work = (): Promise<void> => new Promise((resolve) => open.push(resolve));
  return { open, work };
}

const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

it("never runs twice at once, and whoever asks meanwhile gets one more round together", async () => {
  const { open, work } = gates();
  const serial = new Serial(work);
  const asked = [serial.run(), serial.run(), serial.run()];
  expect(open.length).toBe(1);
  open[0]?.();
  await soon();
  expect(open.length).toBe(2);
  open[1]?.();
  await Promise.all(asked);
  expect(open.length).toBe(2);
});

it("runs again when it is asked again afterwards, also after a failure", async () => {
  let rounds = 0;
  const serial = new Serial(() => {
    rounds += 1;
    return rounds === 1 ? Promise.reject(new Error("first")) : Promise.resolve();
  });
  await expect(serial.run()).rejects.toThrow("first");
  await serial.run();
  expect(rounds).toBe(2);
});

it("forgets a failure that another round has followed", async () => {
  let rounds = 0;
  const serial = new Serial(async () => {
    rounds += 1;
    await soon();
    if (rounds === 1) {
      throw new Error("first");
    }
  });
  const first = serial.run();
  void serial.run();
  await first;
  expect(rounds).toBe(2);
});

it("gives up after five crashes within three minutes, not after five in an hour", () => {
  const often = new Crashes();
  expect([0, 1, 2, 3, 4].map((second) => often.isHopeless(second * 1000))).toEqual([false, false, false, false, true]);
  const seldom = new Crashes();
  expect([0, 1, 2, 3, 4].map((tenth) => seldom.isHopeless(tenth * 600_000)).some(Boolean)).toBe(false);
});
