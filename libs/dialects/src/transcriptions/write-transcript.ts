import type { UnitUsage } from '@gateway/contracts';
import { isObject, type JsonObject } from '../body/json-object.js';
import { EVENT_STREAM_HEADERS } from '../translation/event-stream.js';
import type { Exchanged } from '../translation/translation.js';
import { JSON_HEADERS } from '../translation/whole-answer.js';
import { heardSeconds, lastEndOf } from './spoken.js';
import type { Spoken, Transcript, TranscriptionRequest } from './transcriptions-dialect.js';

const TEXT_HEADERS = { 'content-type': 'text/plain; charset=utf-8' };

/** A transcript in the caller's format, as OpenAI would have answered it. */
export function writeTranscript(transcript: Transcript, request: TranscriptionRequest): Exchanged {
  const { text, words, segments } = transcript;
  const lastEnd = Math.max(lastEndOf(words), lastEndOf(segments));
  const seconds = transcript.seconds || heardSeconds(request.seconds, lastEnd);
  const usage = { ...(transcript.usage ?? NO_TOKENS), audio_seconds: secondsText(seconds) };
  const shown = shownUsage(usage, transcript.usage !== undefined, seconds);
  const { headers, out } = request.stream
    ? { headers: EVENT_STREAM_HEADERS, out: eventsOf(transcript, request, shown) }
    : written(transcript, request, { shown, seconds });
  const deliveredBytes = Buffer.byteLength(text);
  return { headers, piece: { kind: 'end', out, usage, deliveredBytes, finishSeen: true } };
}

const NO_TOKENS = { prompt_tokens: 0, audio_input_tokens: 0, completion_tokens: 0 };

/** Milliseconds are finer than any price. */
export function secondsText(seconds: number): string {
  return seconds.toFixed(3).replace(/\.?0+$/, '');
}

function shownUsage(usage: UnitUsage, countsTokens: boolean, seconds: number): JsonObject {
  if (!countsTokens) return { type: 'duration', seconds: Math.ceil(seconds) };
  const { prompt_tokens = 0, audio_input_tokens = 0, completion_tokens = 0 } = usage;
  return {
    type: 'tokens',
    input_tokens: prompt_tokens,
    input_token_details: {
      text_tokens: prompt_tokens - audio_input_tokens,
      audio_tokens: audio_input_tokens,
    },
    output_tokens: completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
  };
}

interface Measured {
  shown: JsonObject;
  seconds: number;
}

function written(
  transcript: Transcript,
  { format, form }: TranscriptionRequest,
  { shown: usage, seconds }: Measured,
): { headers: Exchanged['headers']; out: string } {
  const { text, language, words } = transcript;
  const segments = segmentsIn(transcript, seconds);
  const json = (answer: JsonObject): ReturnType<typeof written> => ({
    headers: JSON_HEADERS,
    out: JSON.stringify(answer),
  });
  switch (format) {
    case 'text':
      return { headers: TEXT_HEADERS, out: `${text}\n` };
    case 'srt':
      return { headers: TEXT_HEADERS, out: segments.map(srtLine).join('') };
    case 'vtt':
      return { headers: TEXT_HEADERS, out: `WEBVTT\n\n${segments.map(vttLine).join('')}` };
    case 'verbose_json': {
      const wanted = form.fields.flatMap(([name, value]) =>
        name === 'timestamp_granularities[]' ? [value] : [],
      );
      const named = { task: 'transcribe', language: language ?? '', duration: seconds, text };
      const lines = segments.map(({ start, end, text: line }, id) => ({ id, start, end, text: line }));
      return json({
        ...named,
        ...(wanted.includes('word') && {
          words: words.map(({ text: word, start, end }) => ({ word, start, end })),
        }),
        ...((wanted.length === 0 || wanted.includes('segment')) && { segments: lines }),
        usage,
      });
    }
    case 'diarized_json':
      return json({ task: 'transcribe', duration: seconds, text, segments: speakersOf(segments), usage });
    default:
      return json({ text, usage });
  }
}

/** A recording without times is one segment; one that says nothing is none. */
function segmentsIn({ segments, text }: Transcript, seconds: number): readonly Spoken[] {
  const said = segments.filter((segment) => segment.text.trim() !== '');
  if (said.length > 0 || text === '') return said;
  return [{ text, start: 0, end: seconds, speaker: null }];
}

/** Speakers are letters in the order in which they first speak. */
function speakersOf(segments: readonly Spoken[]): JsonObject[] {
  const names = new Map<string, string>();
  return segments.map(({ speaker, start, end, text }, at) => {
    const key = speaker ?? '';
    const name = names.get(key) ?? letter(names.size);
    names.set(key, name);
    return { type: 'transcript.text.segment', id: `seg_${at}`, start, end, text, speaker: name };
  });
}

function letter(index: number): string {
  return index < 26 ? String.fromCharCode(65 + index) : `S${index + 1}`;
}

/** The whole transcript as events: it was not there before its end. */
function eventsOf(
  transcript: Transcript,
  { format, seconds }: TranscriptionRequest,
  usage: JsonObject,
): string {
  const { text } = transcript;
  const segments = format === 'diarized_json' ? speakersOf(segmentsIn(transcript, seconds)) : [];
  const events: JsonObject[] = [
    ...segments,
    ...(text === '' ? [] : [{ type: 'transcript.text.delta', delta: text }]),
    doneEvent({ text, usage }),
  ];
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
}

/** The last event. OpenAI's counts tokens: where nothing is counted in tokens it has no `usage`, which its SDKs refuse. */
export function doneEvent({ usage, ...said }: JsonObject): JsonObject {
  const isCounted = isObject(usage) && usage.type !== 'duration';
  return { type: 'transcript.text.done', ...said, ...(isCounted ? { usage } : {}) };
}

function srtLine({ start, end, text }: Spoken, at: number): string {
  return `${at + 1}\n${clock(start, ',')} --> ${clock(end, ',')}\n${oneLine(text)}\n\n`;
}

function vttLine({ start, end, text }: Spoken): string {
  return `${clock(start, '.')} --> ${clock(end, '.')}\n${oneLine(text)}\n\n`;
}

/** An empty line would end the subtitle, and an arrow begin another one. */
function oneLine(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ').replaceAll('-->', '→');
}

function clock(seconds: number, point: string): string {
  const ms = Math.round(seconds * 1_000);
  const part = (size: number, of: number, width: number): string =>
    String(Math.floor(ms / size) % of).padStart(width, '0');
  const [hours, minutes] = [part(3_600_000, Infinity, 2), part(60_000, 60, 2)];
  return `${hours}:${minutes}:${part(1_000, 60, 2)}${point}${part(1, 1_000, 3)}`;
}
