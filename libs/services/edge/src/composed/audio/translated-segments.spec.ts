import fc from 'fast-check';
import { partsOf, segmentsOf, segmentsRequest, subtitles, translatedTexts } from './translated-segments.js';

const segments = [
  { start: 0, end: 1.5, text: ' Bonjour ' },
  { start: 3_661.25, end: 3_662, text: 'à\n\ntous' },
];

describe('segments that are translated', () => {
  it('AUD-04 stand in a member each, so that as many come back', () => {
    const request = JSON.stringify(segmentsRequest('m', 'en', segments));
    expect(request).toContain('"required":["text_1","text_2"]');
    expect(translatedTexts('{"text_1":"Hello","text_2":"all"}', 2)).toEqual(['Hello', 'all']);
    for (const said of ['{"text_1":"Hello"}', '[]', 'no', '{"text_1":1,"text_2":""}'])
      expect(translatedTexts(said, 2)).toBeNull();
  });

  it('AUD-04 make subtitles whose cues no text can end', () => {
    expect(subtitles('srt', segments)).toBe(
      '1\n00:00:00,000 --> 00:00:01,500\nBonjour\n\n2\n01:01:01,250 --> 01:01:02,000\nà\ntous\n\n',
    );
    expect(subtitles('vtt', segments.slice(0, 1))).toBe(
      'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nBonjour\n\n',
    );
  });

  it('AUD-04 are parts of a long text, which end with sentences, words or characters', () => {
    expect([partsOf('  '), partsOf(' One. '), partsOf('a'.repeat(6_000))]).toEqual([
      [],
      ['One.'],
      ['a'.repeat(6_000)],
    ]);
    const sentences = 'All is well, v. 1.0 says. '.repeat(700).trim();
    const parts = partsOf(sentences);
    expect(parts).toHaveLength(4);
    expect(parts.join(' ')).toBe(sentences);
    for (const part of parts) expect([part.length <= 6_000, part.endsWith('.')]).toEqual([true, true]);
    expect(partsOf('word '.repeat(2_000)).every((part) => part.endsWith('word'))).toBe(true);
    expect(partsOf(`a${'😀'.repeat(4_000)}`).map((part) => part.length)).toEqual([5_999, 2_002]);
  });

  it('are read from anything without throwing', () => {
    expect(segmentsOf([{ start: 0, end: 1, text: 'a', id: 0 }])).toEqual([{ start: 0, end: 1, text: 'a' }]);
    expect(segmentsOf([{ start: 0, text: 'a' }])).toBeNull();
    fc.assert(fc.property(fc.jsonValue(), (value) => void segmentsOf(value)));
  });
});
