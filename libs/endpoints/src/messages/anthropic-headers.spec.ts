import { anthropicHeaders } from './anthropic-headers.js';

const partsOf = (asked: string | string[]): ReturnType<typeof anthropicHeaders> =>
  anthropicHeaders({ 'anthropic-beta': asked });
const betasOf = (asked: string | string[]): string | undefined =>
  partsOf(asked).nativeHeaders?.['anthropic-beta'];

describe('anthropicHeaders', () => {
  it('MSG-05 passes on every beta that Claude Code sends, and drops those that are always on', () => {
    const sent =
      'claude-code-20250219,interleaved-thinking-2025-05-14,thinking-token-count-2026-05-13,context-management-2025-06-27,prompt-caching-scope-2026-01-05,mid-conversation-system-2026-04-07,effort-2025-11-24';
    expect(betasOf(sent)).toBe(sent);
    expect(betasOf(['skills-2025-10-02, prompt-caching-2024-07-31', 'fallback-credit-2026-06-01'])).toBe(
      'skills-2025-10-02',
    );
    expect(betasOf(' , pdfs-2024-09-25')).toBeUndefined();
  });

  it.each(['skills', 'skills-2025', 'xskills-2025-10-02', 'skills-2025-10-02x', 'novel-feature-2027-01-01'])(
    'MSG-05 tells the flag %s apart, which this release does not know',
    (beta) => {
      expect(partsOf(`effort-2025-11-24,${beta}`)).toEqual({
        nativeHeaders: { 'anthropic-beta': 'effort-2025-11-24' },
        newBetas: [beta],
        unread: [],
      });
    },
  );

  it('names flags that are malformed or past the 64th, and sends none of them on', () => {
    const many = Array.from({ length: 66 }, (_, at) => `novel-${at}`);
    expect(partsOf(many.join(','))).toMatchObject({
      newBetas: many.slice(0, 64),
      unread: ['anthropic-beta: novel-64', 'anthropic-beta: novel-65'],
    });
    const long = 'a'.repeat(129);
    expect(partsOf(`two words,caf\u00e9,${long}`)).toEqual({
      nativeHeaders: {},
      newBetas: [],
      unread: ['anthropic-beta: two?words', 'anthropic-beta: caf?', `anthropic-beta: ${'a'.repeat(128)}`],
    });
  });

  it('400 for threads, which reach conversations that the provider keeps', () => {
    const many = 'novel,'.repeat(70);
    for (const asked of ['message-threads-2026-10-01', `${many}message-threads-2027-01-01`])
      expect(() => partsOf(asked)).toThrow(/message-threads-\d{4}-\d{2}-\d{2} is not supported/);
  });

  it('400 for another version of the API', () => {
    expect(() => anthropicHeaders({ 'anthropic-version': '2020-01-01' })).toThrow(
      '2020-01-01 is not supported',
    );
    expect(anthropicHeaders({ 'anthropic-version': '2026-10-21' }).nativeHeaders).toEqual({
      'anthropic-version': '2026-10-21',
    });
    expect(anthropicHeaders({})).toEqual({ nativeHeaders: {}, newBetas: [], unread: [] });
  });
});
