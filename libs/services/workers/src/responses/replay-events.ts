type Json = Record<string, unknown>;

/**
 * A response that has ended as the events of its stream: each item whole, the closing response last. What comes after a
 * number is sent, and the closing event always, so that a client that resumes learns how it ended.
 */
export function eventsAfter(response: Json, after: number): string {
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
  const status = typeof response.status === 'string' ? response.status : 'completed';
  const numbered = events.map((event, sequence_number): Json => ({ ...event, sequence_number }));
  const last = { type: `response.${status}`, response, sequence_number: Math.max(events.length, after + 1) };
  const sent = [...numbered.filter((_event, number) => number > after), last];
  return `${sent.map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`;
}
