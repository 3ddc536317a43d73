/** @jest-environment jsdom */
import { cleanup, fireEvent, screen } from '@testing-library/react';
import { renderedAt } from '../shell/rendered.fixture.js';
import Lines from './lines.js';
import StackedBars from './stacked-bars.js';

const labels = ['26 Nov', '27 Nov'];
const series = [
  { label: 'small', color: 'red', heights: [1, 0] },
  { label: 'large', color: 'blue', heights: [3, 2] },
];
const format = (height: number): string => `$${height}`;
/** First bucket: half of the width that is left beside the axis, in a window without a size. */
const hover = (label: string): Element => {
  const plot = screen.getByRole('figure', { name: label }).firstElementChild as Element;
  fireEvent.mouseMove(plot, { clientX: 100 });
  return plot;
};

describe('a chart over time', () => {
  afterEach(cleanup);

  it('stacks its bars, and says what a bucket has and comes to, the highest first and nothing of nought', async () => {
    renderedAt('/o/org_1/usage', <StackedBars bars={{ labels, series }} label="Spend" format={format} />);
    await screen.findByText('26 Nov');
    const plot = hover('Spend');
    expect(plot.lastElementChild?.textContent).toBe('26 Novlarge$3small$1Total$4');
    const bars = [...plot.querySelectorAll('rect[fill]')].map((bar) => [
      bar.getAttribute('fill'),
      Number(bar.getAttribute('height')),
    ]);
    // No bar of a group that had nothing; three times as high is three times as much.
    expect(bars.map(([fill]) => fill)).toEqual(['red', 'blue', 'blue']);
    expect(Number(bars[1][1]) / Number(bars[0][1])).toBeCloseTo(3);
    fireEvent.mouseLeave(plot);
    expect(plot.lastElementChild?.tagName).toBe('svg');
  });

  it('has no slice so thin that it cannot be pressed', async () => {
    const marks = labels.map(() => ({ to: '/o/org_1/requests', search: {} }));
    const thin = [
      { label: 'large', color: 'blue', heights: [1_000, 0], marks },
      { label: 'thin', color: 'red', heights: [1, 0], marks },
    ];
    renderedAt(
      '/o/org_1/usage',
      <StackedBars bars={{ labels, series: thin }} label="Spend" format={format} />,
    );
    await screen.findByText('26 Nov');
    const highest = [...document.querySelectorAll('a')].map((link) =>
      Math.max(...[...link.querySelectorAll('rect')].map((rect) => Number(rect.getAttribute('height')))),
    );
    expect(highest).toHaveLength(2);
    expect(Math.min(...highest)).toBe(8);
  });

  it('breaks a line where there is no value, and adds up no levels', async () => {
    const lines = { labels, series: [{ label: 'm', color: 'red', heights: [null, 5] }], whole: [4, 4] };
    renderedAt('/o/org_1/usage', <Lines lines={lines} label="Latency" format={format} />);
    await screen.findByText('26 Nov');
    const plot = hover('Latency');
    expect(plot.lastElementChild?.textContent).toBe('26 NovAll$4');
    const [own, all] = [...plot.querySelectorAll('path')].map((path) => path.getAttribute('d') ?? '');
    expect(own).toMatch(/^M\S+ \S+h0$/);
    expect(all).toMatch(/^M.*h0L/);
  });
});
