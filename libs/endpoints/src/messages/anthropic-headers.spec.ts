import { anthropicHeaders } from './anthropic-headers.js';

const betasOf = (asked: string | string[]): string | undefined =>
  anthropicHeaders({ 'anthropic-beta': asked })['anthropic-beta'];

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

  it.each([
    'skills',
    'skills-2025',
    'xskills-2025-10-02',
    'skills-2025-10-02x',
    'server-side-fallback-2026-06-01',
  ])('400 naming the beta %s, which is not known', (beta) => {
    expect(() => betasOf(`effort-2025-11-24,${beta}`)).toThrow(`anthropic-beta ${beta} is not supported.`);
  });

  it('400 for another version of the API', () => {
    expect(() => anthropicHeaders({ 'anthropic-version': '2020-01-01' })).toThrow(
      '2020-01-01 is not supported',
    );
    expect(anthropicHeaders({ 'anthropic-version': '2026-10-21' })).toEqual({
      'anthropic-version': '2026-10-21',
    });
    expect(anthropicHeaders({})).toEqual({});
  });
});
