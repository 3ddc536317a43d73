import { objectsOf, textOf, type JsonObject } from '../body/json-object.js';
import type { Spoken } from './transcriptions-dialect.js';

/** A segment is a line of subtitles: two rows that can be read in seven seconds. */
const SEGMENT_SECONDS = 7;
const SEGMENT_CHARACTERS = 84;
const SENTENCE_END = /[.!?。！？]["'”’)\]]*\s*$/;

/** A number of seconds that can be one; 0 for anything else. */
export function secondsOf(value: unknown, perSecond = 1): number {
  return typeof value === 'number' && value > 0 && value < SECONDS_MAX * perSecond ? value / perSecond : 0;
}

/** Longer than any file within the size limit. */
const SECONDS_MAX = 1_000_000;

/** A window of Whisper's: of a shorter recording the last segment may end with it. */
const WINDOW_SECONDS = 30;

/** Seconds that are billed where the provider reports none: as measured, unless it heard somebody speak beyond that. */
export function heardSeconds(measured: number, lastEnd: number): number {
  return lastEnd > measured + WINDOW_SECONDS ? lastEnd : measured;
}

/** Returns the end of the last part; 0 without one. */
export function lastEndOf(parts: readonly { readonly end?: unknown }[]): number {
  return parts.reduce((last, { end }) => Math.max(last, secondsOf(end)), 0);
}

/** Returns the end of the last line of srt or vtt. */
export function lastEndOfSubtitles(text: string): number {
  let last = 0;
  for (const [, hours = '0', minutes, seconds] of text.matchAll(CUE_END))
    last = Math.max(last, Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds.replace(',', '.')));
  return secondsOf(last);
}

const CUE_END = /-->[ \t]*(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2}[.,]\d{1,3})/g;

/** The objects of a list as parts of a recording; `name` holds their text. */
export function spokenIn(list: unknown, name: (item: JsonObject) => unknown, perSecond = 1): Spoken[] {
  return objectsOf(list).map((item) => {
    const start = secondsOf(item.start, perSecond);
    const speaker = item.speaker ?? item.speaker_id;
    return {
      text: textOf(name(item)),
      start,
      end: Math.max(start, secondsOf(item.end, perSecond)),
      speaker: typeof speaker === 'string' || typeof speaker === 'number' ? String(speaker) : null,
    };
  });
}

/** Words as lines: one ends with its sentence, with its speaker, or where it would be too long to be read. */
export function segmentsOf(words: readonly Spoken[], separator: string): Spoken[] {
  const segments: Spoken[] = [];
  let line = null as Spoken | null;
  for (const word of words) {
    if (line !== null && isOver(line, word)) {
      segments.push(line);
      line = null;
    }
    line =
      line === null
        ? { ...word, text: word.text.trimStart() }
        : { ...line, text: `${line.text}${separator}${word.text}`, end: Math.max(line.end, word.end) };
  }
  if (line !== null) segments.push(line);
  return segments.map((one) => ({ ...one, text: one.text.trim() })).filter(({ text }) => text !== '');
}

function isOver(line: Spoken, word: Spoken): boolean {
  // A space belongs to the line before it.
  if (word.text.trim() === '') return false;
  return (
    word.speaker !== line.speaker ||
    SENTENCE_END.test(line.text) ||
    word.end - line.start > SEGMENT_SECONDS ||
    line.text.length + word.text.length > SEGMENT_CHARACTERS
  );
}
