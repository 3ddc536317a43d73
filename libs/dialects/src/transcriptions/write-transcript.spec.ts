import fc from 'fast-check';
import { segmentsOf } from './spoken.js';
import { askedFor } from './transcriptions.fixture.js';
import type { Spoken, Transcript } from './transcriptions-dialect.js';
import { writeTranscript } from './write-transcript.js';

const part = (text: string, start: number, end: number, speaker: string | null = null): Spoken => ({
  text,
  start,
  end,
  speaker,
});
/** A proxy on the way gathers what it may, and gives all events at the end. */
const UNHELD = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};
const transcript: Transcript = {
  text: 'Hé there. No.',
  language: 'en',
  seconds: 3_725.5,
  words: [part('Hé', 0, 0.4), part('there.', 0.5, 1), part('No.', 3_725, 3_725.4)],
  segments: [part('Hé there.', 0, 1, 'spk_9'), part('No.', 3_725, 3_725.4, 'spk_2')],
};
const usage = { type: 'duration', seconds: 3_726 };

function out(format: string, given: Partial<Transcript> = {}, fields: [string, string][] = []): unknown {
  const { headers, piece } = writeTranscript({ ...transcript, ...given }, askedFor({ format, fields }));
  const text = String(piece.out);
  return headers['content-type'].startsWith('application/json') ? JSON.parse(text) : text;
}

describe('a transcript in the caller’s format', () => {
  it('bills at least what was heard where its provider says no length', () => {
    const billed = (given: Partial<Transcript>): unknown => {
      const { piece } = writeTranscript({ ...transcript, seconds: null, ...given }, askedFor());
      return piece.usage?.audio_seconds;
    };
    expect([billed({}), billed({ words: [] }), billed({ segments: [] })]).toEqual(Array(3).fill('3725.4'));
    expect([billed({ words: [], segments: [] }), billed({ seconds: 7 })]).toEqual(['2.5', '7']);
  });

  it('AUD-06 is json, text, subtitles, verbose or by speaker', () => {
    expect(out('json')).toEqual({ text: 'Hé there. No.', usage });
    expect(out('text')).toBe('Hé there. No.\n');
    expect(out('srt')).toBe(
      '1\n00:00:00,000 --> 00:00:01,000\nHé there.\n\n2\n01:02:05,000 --> 01:02:05,400\nNo.\n\n',
    );
    expect(out('vtt')).toBe(
      'WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nHé there.\n\n01:02:05.000 --> 01:02:05.400\nNo.\n\n',
    );
    const named = { task: 'transcribe', language: 'en', duration: 3_725.5, text: 'Hé there. No.' };
    const segments = [
      { id: 0, start: 0, end: 1, text: 'Hé there.' },
      { id: 1, start: 3_725, end: 3_725.4, text: 'No.' },
    ];
    expect(out('verbose_json')).toEqual({ ...named, segments, usage });
    expect(out('verbose_json', {}, [['timestamp_granularities[]', 'word']])).toEqual({
      ...named,
      words: transcript.words.map(({ text: word, start, end }) => ({ word, start, end })),
      usage,
    });
    expect(out('diarized_json')).toMatchObject({
      segments: [
        { type: 'transcript.text.segment', id: 'seg_0', speaker: 'A', text: 'Hé there.' },
        { id: 'seg_1', speaker: 'B' },
      ],
    });
  });

  it('AUD-06 is events where a stream was asked for: the text, then its end with the counts', () => {
    const { headers, piece } = writeTranscript(
      transcript,
      askedFor({ stream: true, format: 'diarized_json' }),
    );
    expect(headers).toEqual(UNHELD);
    const events = String(piece.out)
      .trim()
      .split('\n\n')
      .map((line) => JSON.parse(line.slice('data: '.length)) as { type: string });
    expect(events.map(({ type }) => type)).toEqual([
      'transcript.text.segment',
      'transcript.text.segment',
      'transcript.text.delta',
      'transcript.text.done',
    ]);
    // Of tokens alone, which nobody counted.
    expect(events.at(-1)).toEqual({ type: 'transcript.text.done', text: transcript.text });
    const counted = { ...transcript, usage: { prompt_tokens: 9, completion_tokens: 3 } };
    const { out: told } = writeTranscript(counted, askedFor({ stream: true })).piece;
    expect(String(told)).toContain('"usage":{"type":"tokens","input_tokens":9');
  });

  it('bills the seconds that the provider reports, the measured ones without, and tokens where it counts those', () => {
    const billed = (given: Partial<Transcript>): unknown =>
      writeTranscript({ ...transcript, ...given }, askedFor({ seconds: 2.5 })).piece.usage;
    const none = { prompt_tokens: 0, audio_input_tokens: 0, completion_tokens: 0 };
    expect(billed({})).toEqual({ ...none, audio_seconds: '3725.5' });
    const untimed = { words: [], segments: [] };
    expect(billed({ ...untimed, seconds: null })).toEqual({ ...none, audio_seconds: '2.5' });
    expect(billed({ ...untimed, seconds: 0 })).toEqual({ ...none, audio_seconds: '2.5' });
    expect(billed({ usage: { prompt_tokens: 9, audio_input_tokens: 8, completion_tokens: 3 } })).toEqual({
      prompt_tokens: 9,
      audio_input_tokens: 8,
      completion_tokens: 3,
      audio_seconds: '3725.5',
    });
    // A side of such counts that is missing is estimated, and not free.
    expect(billed({ usage: { completion_tokens: 3 } })).toEqual({
      completion_tokens: 3,
      audio_seconds: '3725.5',
    });
  });

  it('of a recording without times is one segment, and of silence none', () => {
    const whole = { segments: [], words: [], seconds: 2 };
    expect(out('srt', { ...whole, text: 'All.' })).toBe('1\n00:00:00,000 --> 00:00:02,000\nAll.\n\n');
    expect(out('srt', { ...whole, text: '' })).toBe('');
  });

  it('no text of a provider ends a subtitle or begins another', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 5 }), (texts) => {
        const segments = texts.map((text, at) => part(text, at, at + 1));
        const said = texts.filter((text) => text.trim() !== '');
        const written = String(out('vtt', { segments, text: 'x' }));
        expect(written.split('-->').length - 1).toBe(Math.max(1, said.length));
        expect(written.slice('WEBVTT\n\n'.length)).not.toMatch(/\n\n\n/);
      }),
    );
  });

  it('keeps every word in order in segments that can be read', () => {
    const words = fc.array(
      fc.record({
        text: fc.constantFrom('a', 'word', 'end.', 'ümlaut?', 'x'.repeat(50)),
        gap: fc.nat(9),
        speaker: fc.constantFrom(null, 'A', 'B'),
      }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(words, (given) => {
        let now = 0;
        const spoken = given.map(({ text, gap, speaker }) => part(text, (now += gap), now + 1, speaker));
        const segments = segmentsOf(spoken, ' ');
        expect(segments.map(({ text }) => text).join(' ')).toBe(given.map(({ text }) => text).join(' '));
        for (const { start, end, text } of segments) {
          expect(end).toBeGreaterThanOrEqual(start);
          expect(text.includes(' ') ? end - start : 0).toBeLessThanOrEqual(7);
        }
      }),
    );
  });
});
