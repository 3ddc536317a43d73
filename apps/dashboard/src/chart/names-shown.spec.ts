import { namesShown } from './names-shown.js';

describe('the labels of an axis', () => {
  const hours = Array.from({ length: 24 }, (_, hour) => `${String(hour).padStart(2, '0')}:00`);

  it('stand at equal steps, as many as have room', () => {
    expect(namesShown(hours, 60)).toHaveLength(24);
    expect(namesShown(hours, 20)).toEqual([0, 3, 6, 9, 12, 15, 18, 21]);
    expect(namesShown(hours, 0.5)).toEqual([0]);
  });

  it('are none of no bucket', () => expect(namesShown([], 10)).toEqual([]));
});
