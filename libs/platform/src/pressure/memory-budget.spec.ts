import { seededRandom } from '@gateway/testing/plain';
import { Pressure } from './pressure.js';
import { PageBudget, Stage, withMemory } from './memory-budget.js';

/** 256 MiB, until the test says otherwise. */
const MIB = 1_048_576;
const pressureOf = (): Pressure => new Pressure(seededRandom(1));
const REFUSED = { code: 'service_unavailable', status: 503 };

describe('bytes that a small request names', () => {
  it('U15 503 count until the answer is closed and the read has ended; the last size counts', async () => {
    const pressure = pressureOf();
    const stage = new Stage();
    let end = (_read: string): void => undefined;
    const reading = withMemory(pressure, stage, (reserveMemory) => {
      reserveMemory(5);
      reserveMemory(7);
      return new Promise<string>((resolve) => (end = resolve));
    });
    expect(pressure.bodyBytesInFlight).toBe(7);
    stage.close();
    expect(pressure.bodyBytesInFlight).toBe(7);
    end('read');
    expect(await reading).toBe('read');
    await Promise.resolve();
    expect(pressure.bodyBytesInFlight).toBe(0);
  });

  it('U15 503 never go past the bound, nor fill what bodies may use; a failed read holds nothing', async () => {
    const pressure = pressureOf();
    const stage = new Stage();
    const take = (bytes: number): Promise<void> =>
      withMemory(pressure, stage, async (reserveMemory) => reserveMemory(bytes));
    await take(200 * MIB);
    await expect(take(57 * MIB)).rejects.toMatchObject(REFUSED);
    await take(56 * MIB);
    expect([pressure.bodyBytesInFlight, pressure.rejection(1)]).toEqual([256 * MIB, null]);
    await expect(take(1)).rejects.toMatchObject({ options: { retryAfterSeconds: expect.any(Number) } });
    stage.close();
    await new Promise((resolve) => setImmediate(resolve));
    expect(pressure.bodyBytesInFlight).toBe(0);
  });

  it('U15 503 of one account fill a quarter at most, unless it is one alone; others have the rest', async () => {
    const pressure = pressureOf();
    const stages = [new Stage(), new Stage(), new Stage()];
    const take = (account: string, bytes: number, stage = 0): Promise<void> =>
      withMemory(pressure.ofAccount(account), stages[stage], async (reserveMemory) => reserveMemory(bytes));
    await take('a', 40 * MIB);
    await take('a', 24 * MIB, 1);
    await expect(take('a', 1)).rejects.toMatchObject(REFUSED);
    await take('b', 90 * MIB);
    await expect(take('b', 1)).rejects.toMatchObject(REFUSED);
    await take('c', 64 * MIB, 2);
    expect(pressure.bodyBytesInFlight).toBe(218 * MIB);
    await expect(take('d', 39 * MIB)).rejects.toMatchObject(REFUSED);
    stages[1].close();
    await new Promise((resolve) => setImmediate(resolve));
    await take('a', 24 * MIB, 2);
    for (const stage of stages) stage.close();
    await new Promise((resolve) => setImmediate(resolve));
    expect(pressure.bodyBytesInFlight).toBe(0);
    await take('b', 64 * MIB);
  });

  it('U15 count for one page of a stream at a time', async () => {
    const pressure = pressureOf();
    const room = new PageBudget(pressure);
    for (const bytes of [10, 20]) {
      await room.read(async (reserveMemory) => reserveMemory(bytes));
      await new Promise((resolve) => setImmediate(resolve));
      expect(pressure.bodyBytesInFlight).toBe(bytes);
    }
    room.close();
    await new Promise((resolve) => setImmediate(resolve));
    expect(pressure.bodyBytesInFlight).toBe(0);
  });
});
