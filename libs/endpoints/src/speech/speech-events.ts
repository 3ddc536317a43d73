import type { ApiError } from '@gateway/contracts';
import { EVENT_STREAM_HEADERS, type Answer, type AnswerFacts, type Piece } from '@gateway/dialects';

/** Bytes of audio in one event: a third more as base64, and soon there. */
const EVENT_BYTES = 49_152;

/** The same answer as OpenAI's events: `speech.audio.delta` with a piece of audio each, `speech.audio.done` with the counts. */
export function speechEvents(answer: Answer, facts: AnswerFacts): Answer {
  const framed = (pieces: Piece[]): Piece[] =>
    pieces.map((piece) => ({ ...piece, out: framesOf(piece, facts) }));
  return {
    isWhole: answer.isWhole,
    headers: EVENT_STREAM_HEADERS,
    push: (chunk) => framed(answer.push(chunk)),
    end: () => framed(answer.end()),
    fail: speechFailure,
  };
}

/** The in-band error of a stream that has begun. */
export function speechFailure(error: Pick<ApiError, 'message'>): string {
  return frameOf({ type: 'error', error: { message: error.message } });
}

function framesOf({ kind, out, usage }: Piece, facts: AnswerFacts): string {
  let frames = '';
  if (typeof out !== 'string')
    for (let at = 0; at < out.byteLength; at += EVENT_BYTES) {
      const audio = Buffer.from(out.subarray(at, at + EVENT_BYTES)).toString('base64');
      frames += frameOf({ type: 'speech.audio.delta', audio });
    }
  if (kind !== 'end') return frames;
  const { prompt_tokens: read = 0, completion_tokens: spoken = 0 } = facts.believed(usage ?? {});
  const counts = { input_tokens: read, output_tokens: spoken, total_tokens: read + spoken };
  return frames + frameOf({ type: 'speech.audio.done', usage: counts });
}

function frameOf(event: object): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}
