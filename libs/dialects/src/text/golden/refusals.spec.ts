import { ApiError, errorEnvelope, messagesErrorEnvelope } from '@gateway/contracts';
import { goldenLines } from '@gateway/testing/plain';
import type { Json } from '../upstream-requests.fixture.js';
import { bodyOf, CALLER_NAMES, CALLERS, GOLDEN_FOLDER, type CallerName } from './bodies.fixture.js';
import { CHAT_REFUSALS, MESSAGES_REFUSALS, RESPONSES_REFUSALS } from './refusals.fixture.js';

const REFUSALS: Readonly<Record<CallerName, Readonly<Record<string, Json>>>> = {
  chat: CHAT_REFUSALS,
  messages: MESSAGES_REFUSALS,
  responses: RESPONSES_REFUSALS,
};

/** The error as its endpoint writes it. */
function refused(name: CallerName, members: Json): Json {
  try {
    CALLERS[name].caller.read(bodyOf(name, members));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const envelope = name === 'messages' ? messagesErrorEnvelope(error, '') : errorEnvelope(error, '');
    return { status: error.status, ...envelope.error };
  }
  return { status: 200 };
}

describe('ERR-35 bodies that break a rule', () => {
  it.each(CALLER_NAMES)('of %s are refused in the words of the file', (name) => {
    const cases = Object.entries(REFUSALS[name]).map(([title, body]) => ({
      case: title,
      ...refused(name, body),
    }));
    const { made, kept } = goldenLines(`${GOLDEN_FOLDER}/refusals/${name}`, cases);
    expect(made).toEqual(kept);
  });
});
