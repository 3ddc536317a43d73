import { jest } from '@jest/globals';
import { ResidentMemory } from './resident-memory.js';

describe('the resident memory', () => {
  afterEach(() => jest.useRealTimers());

  it('stays the last sample where no file descriptor is free to read it, and ends nothing', () => {
    jest.useFakeTimers();
    let isFree = true;
    let bytes = 1;
    const memory = new ResidentMemory(() => {
      if (!isFree) throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
      return (bytes += 1);
    });
    memory.start();
    expect(memory.bytes).toBe(2);
    isFree = false;
    jest.advanceTimersByTime(3_000);
    expect(memory.bytes).toBe(2);
    isFree = true;
    jest.advanceTimersByTime(1_000);
    expect(memory.bytes).toBe(3);
    memory.stop();
  });

  it('is that of this process', () => {
    const memory = new ResidentMemory();
    memory.start();
    expect(memory.bytes).toBeGreaterThan(1_000_000);
    memory.stop();
  });
});
