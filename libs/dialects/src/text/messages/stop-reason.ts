/** stop_reason -> finish_reason where the meaning matches; anything else goes on verbatim. */
const TO_FINISH: ReadonlyMap<string, string> = new Map(
  Object.entries({
    end_turn: 'stop',
    stop_sequence: 'stop',
    tool_use: 'tool_calls',
    max_tokens: 'length',
    model_context_window_exceeded: 'length',
    refusal: 'content_filter',
  }),
);

/** Values that mean the same in this dialect and in Bedrock's, so a native one is kept. */
const OWN = new Set([...TO_FINISH.keys(), 'pause_turn', 'compaction']);

const FROM_FINISH: ReadonlyMap<string, string> = new Map(
  Object.entries({ length: 'max_tokens', content_filter: 'refusal' }),
);

export function finishReason(stopReason: string): string {
  return TO_FINISH.get(stopReason) ?? stopReason;
}

export interface Finish {
  reason: string;
  native: string | null;
  stopSequence: string | null;
}

/**
 * The stop_reason of a translated answer. With a tool block it is tool_use though the upstream said stop, or callers
 * would not run the tool; a cut answer stays cut, because its arguments may be half.
 */
export function stopReason(finish: Finish, hasToolBlock: boolean): string {
  const own = finish.native !== null && OWN.has(finish.native) ? finish.native : null;
  const reason = own ?? FROM_FINISH.get(finish.reason) ?? 'end_turn';
  const isPlainEnd = reason === 'end_turn' || reason === 'stop_sequence' || reason === 'tool_use';
  if (isPlainEnd && hasToolBlock) return 'tool_use';
  if (reason === 'tool_use') return 'end_turn';
  return finish.stopSequence !== null && isPlainEnd ? 'stop_sequence' : reason;
}

/**
 * The stop sequence that ended the answer, null for none. Servers put other words in its place, a reason or a token:
 * only what the caller asked for counts. Where the upstream says that one matched, and there is only one, it is that.
 */
export function stoppedAt(
  { stopSequence, native }: Finish,
  stop: readonly string[] | undefined,
): string | null {
  if (stop === undefined) return stopSequence;
  if (stopSequence !== null) return stop.includes(stopSequence) ? stopSequence : null;
  return native === 'stop_sequence' && stop.length === 1 ? stop[0] : null;
}
