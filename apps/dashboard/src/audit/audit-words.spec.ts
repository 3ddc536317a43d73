import { actionChoices, actionWords } from './audit-words.js';

describe('the words of the audit log', () => {
  it.each([
    ['api_key.suspend', 'Suspended API key'],
    ['routing_policy_template.update', 'Changed routing policy'],
    ['auth.login', 'Signed in'],
    ['new_thing.turn_over', 'turn over new thing'],
    ['odd', 'odd'],
  ])('say %s as "%s"', (action, words) => {
    expect(actionWords(action)).toBe(words);
  });

  it('have no code among the actions to choose from, and each once', () => {
    const labels = actionChoices('api_key.create').map(({ label }) => label);
    expect(labels.filter((label) => /[._]/.test(label))).toEqual([]);
    expect(new Set(labels).size).toBe(labels.length);
  });
});
