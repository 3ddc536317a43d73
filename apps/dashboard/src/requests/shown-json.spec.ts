import { shownJson } from './shown-json.js';

describe('a logged body', () => {
  it('is shown as JSON, and says what was not kept', () => {
    expect(shownJson({ model: 'a/b' }, 15)).toBe('{\n  "model": "a/b"\n}');
    expect(shownJson(null, 2_000_000)).toBe('2,000,000 bytes, not kept');
    expect(shownJson(null, 0)).toBe('nothing');
  });

  it('is cut where it would stop the page', () => {
    const shown = shownJson({ text: 'x'.repeat(1_000_000) }, 1_000_011);
    expect(shown.length).toBeLessThan(21_000);
    expect(shown).toMatch(/cut here by the page$/);
  });
});
