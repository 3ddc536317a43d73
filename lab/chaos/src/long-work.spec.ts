import { ended, type Call } from './long-work.js';

const LINES = 120;

describe('what of long work ended whole', () => {
  it('counts each task and each answered line, and names what did not end', async () => {
    const { call } = worldOf({ 'vid-2': 'failed' });
    const { whole, differences } = await ended(call, {
      ...{ videos: ['vid-1', 'vid-2'], responses: ['resp-1'], batches: ['batch-1'] },
    });
    expect(whole).toBe(2 + LINES);
    expect(differences).toEqual(['/v1/video/generations/vid-2 is failed: null']);
  });

  it('counts a line that is answered twice once, and names it', async () => {
    const { call } = worldOf({}, [...lines(LINES - 1), ...lines(1)]);
    const { whole, differences } = await ended(call, { videos: [], responses: [], batches: ['batch-1'] });
    expect(whole).toBe(LINES - 1);
    expect(differences).toEqual(['the batch answers 120 lines, 119 of them once']);
  });
});

function lines(count: number): string[] {
  return Array.from({ length: count }, (_, n) => JSON.stringify({ custom_id: `c-${n}` }));
}

/** A gateway whose work has ended. */
function worldOf(statuses: Record<string, string>, output = lines(LINES)): { call: Call } {
  const call: Call = (_method, path) => {
    const id = path.split('/').at(-1) ?? '';
    const body = {
      ...{ status: statuses[id] ?? 'completed', output_file_id: 'file-1' },
      request_counts: { total: LINES, completed: LINES, failed: 0 },
    };
    return Promise.resolve({ body, text: path.endsWith('/content') ? output.join('\n') : '', id: '' });
  };
  return { call };
}
