import { fieldMessage } from './field-words.js';

describe('the message beside a field', () => {
  it.each([
    ['spend_cap_usd must be a decimal string of USD', 'Enter an amount such as 25 or 0.50.'],
    ['rpm must be an integer number', 'Must be an integer number.'],
    ['name should not be empty', 'Should not be empty.'],
    ['team_id names no team of the organization.', 'Team id names no team of the organization.'],
    ['An alias has this name.', 'An alias has this name.'],
    ['', ''],
  ])('of %p has no name of the API: %p', (sent, shown) => {
    expect(fieldMessage(sent)).toBe(shown);
  });
});
