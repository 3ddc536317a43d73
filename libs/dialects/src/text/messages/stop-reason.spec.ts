import { finishReason, stopReason } from './stop-reason.js';

it.each(Object.getOwnPropertyNames(Object.prototype))(
  'CHAT-11 a reason that a provider calls %s goes on verbatim and is no member of a table',
  (name) => {
    expect(finishReason(name)).toBe(name);
    expect(stopReason({ reason: name, native: name, stopSequence: null }, false)).toBe('end_turn');
  },
);
