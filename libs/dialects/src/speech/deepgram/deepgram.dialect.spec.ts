import { HOSTILE_VOICES, OPENAI_VOICES, refusedBy, speechRequest, spokenWith } from '../speech.fixture.js';
import { dialect } from './deepgram.dialect.js';

const MODEL = 'aura-2';
const THALIA = '/speak?model=aura-2-thalia-en';

/** Characters that an answer with this header bills of a text. */
function billed(count: string | undefined, input = 'Hello'): unknown {
  const headers: Record<string, string> = count === undefined ? {} : { 'dg-char-count': count };
  const answer = dialect.begin({ status: 200, contentType: 'audio/mpeg', headers }, speechRequest({ input }));
  return answer.push(Buffer.from([1]))[0].usage?.characters;
}

describe('speech of Deepgram', () => {
  it.each([
    ['mp3', 'encoding=mp3'],
    ['opus', 'encoding=opus&container=ogg'],
    ['aac', 'encoding=aac'],
    ['flac', 'encoding=flac'],
    ['wav', 'encoding=linear16&container=wav&sample_rate=24000'],
    ['pcm', 'encoding=linear16&container=none&sample_rate=24000'],
  ])('asks for %s by %s in the query, and sends the text alone', (response_format, query) => {
    expect(spokenWith(dialect, MODEL, { response_format })).toEqual([
      `${THALIA}&${query}`,
      { text: 'Hello' },
    ]);
  });

  it('names the speed, from 0.7 to 1.5', () => {
    const [path, body] = spokenWith(dialect, MODEL, { speed: 1.25, instructions: 'softly' });
    expect([path, body]).toEqual([`${THALIA}&encoding=mp3&speed=1.25`, { text: 'Hello' }]);
    expect(dialect.takes).toEqual(['speed']);
    for (const speed of [0.6, 1.6])
      expect(refusedBy(dialect, MODEL, { speed })).toEqual(['speed', String(speed)]);
    for (const speed of [0.7, 1.5]) expect(refusedBy(dialect, MODEL, { speed })).toBeNull();
  });

  it.each([
    ['thalia', 'aura-2-thalia-en'],
    ['celeste-es', 'aura-2-celeste-es'],
    ['aura-2-celeste-es', 'aura-2-celeste-es'],
    ['onyx', 'aura-2-zeus-en'],
  ])('calls the voice %s %s', (voice, model) => {
    expect(spokenWith(dialect, MODEL, { voice })[0]).toBe(`/speak?model=${model}&encoding=mp3`);
  });

  it('has a voice of its own for each of OpenAI’s', () => {
    const paths = OPENAI_VOICES.map((voice) => spokenWith(dialect, MODEL, { voice })[0]);
    expect(new Set(paths).size).toBe(OPENAI_VOICES.length);
  });

  it.each([...HOSTILE_VOICES, 'aura-asteria-en', 'flux-alexis-en', 'Thalia', 'thalia-eng', 'a-b-c'])(
    'takes %j for no voice of the route’s family, which has the price',
    (voice) => {
      expect(refusedBy(dialect, MODEL, { voice })).toEqual(['voice', voice]);
    },
  );

  it('speaks 2,000 characters, and no more', () => {
    expect(refusedBy(dialect, MODEL, { input: '😀'.repeat(2_000) })).toBeNull();
    expect(refusedBy(dialect, MODEL, { input: 'a'.repeat(2_001) })).toEqual([
      ...['input', 'texts of more than 2000 characters'],
    ]);
  });

  it.each([
    ['4', 4],
    ['5', 5],
    ['6', 5],
    ['0', 5],
    ['-1', 5],
    ['4.5', 5],
    ['many', 5],
    ['', 5],
    [undefined, 5],
  ])('bills its own count of %j where it can be one', (count, characters) => {
    expect(billed(count)).toBe(characters);
  });

  it('believes a count in bytes of a text that is not ASCII', () => {
    expect([billed('6', 'Hé😀'), billed('7', 'Hé😀'), billed('8', 'Hé😀')]).toEqual([6, 7, 3]);
  });

  it('calls raw samples what the caller calls them: L16 would be read with its bytes the wrong way round', () => {
    const contentType = 'audio/l16;rate=24000;channels=1';
    const request = speechRequest({ response_format: 'pcm' });
    expect(dialect.begin({ status: 200, contentType }, request).headers).toEqual({
      'content-type': 'audio/pcm',
    });
  });

  it('is bytes that go on as they come', () => {
    const answer = dialect.begin({ status: 200, contentType: 'audio/ogg' }, speechRequest());
    expect([answer.isWhole, answer.headers]).toEqual([false, { 'content-type': 'audio/ogg' }]);
    const chunk = Buffer.from([1, 2]);
    expect(answer.push(chunk)).toMatchObject([{ kind: 'part', out: chunk, usage: { characters: 5 } }]);
    expect(answer.end()).toMatchObject([{ kind: 'end', finishSeen: true }]);
  });
});
