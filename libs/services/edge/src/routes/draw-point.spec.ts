import { drawPoint } from './draw-point.js';

describe('the point at which the target of an alias is drawn', () => {
  it('is one for a unit however often it is planned, and spread evenly over requests and their units', () => {
    expect(drawPoint('req_1', 0)).toBe(drawPoint('req_1', 0));
    const shareBelow = (part: number): number => {
      const points = Array.from({ length: 20_000 }, (_, n) => drawPoint(`req_${n >> 1}`, n & 1));
      return points.filter((point) => point < part).length / points.length;
    };
    for (const part of [0.05, 0.5, 0.95]) expect(Math.abs(shareBelow(part) - part)).toBeLessThan(0.01);
  });
});
