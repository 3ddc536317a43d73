import { writeJson } from '@gateway/json-body';
type Json = Record<string, unknown>;

/**
 * A response that has ended as the events of its stream: each item whole, the closing response last. What comes after a
 * number is sent, and the closing event always, so that a client that resumes learns how it ended. One frame at a time:
 * together they are several times as large as the response.
 */
export function* eventsAfter(response: Json, after: number): Generator<string> {
  const output = Array.isArray(response.output) ? (response.output as Json[]) : [];
  const opening = { ...response, status: 'in_progress', output: [], usage: null };
  const events: Json[] = [
    { type: 'response.created', response: opening },
    { type: 'response.in_progress', response: opening },
    ...output.flatMap((item, output_index) => [
      { type: 'response.output_item.added', output_index, item },
      { type: 'response.output_item.done', output_index, item },
    ]),
  ];
  for (const [sequence_number, event] of events.entries())
    if (sequence_number > after) yield frame({ ...event, sequence_number });
  const status = typeof response.status === 'string' ? response.status : 'completed';
  const sequence_number = Math.max(events.length, after + 1);
  yield frame({ type: `response.${status}`, response, sequence_number });
  yield 'data: [DONE]\n\n';
}

function frame(event: Json): string {
  return `event: ${String(event.type)}\ndata: ${writeJson(event)}\n\n`;
}
