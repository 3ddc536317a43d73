import { unknownField } from './unknown-field.js';

const KNOWN = ['name', 'rpm', 'rpd', 'spend_cap_usd', 'model_limits'];

describe('the sentence about an unknown field', () => {
  it.each([
    ['rpm_limit', 'rpm'],
    ['RPM', 'rpm'],
    ['spendCap', 'spend_cap_usd'],
    ['spend-cap-usd', 'spend_cap_usd'],
    ['limits', 'model_limits'],
    ['key_name', 'name'],
  ])('names for %s the field %s', (name, field) => {
    expect(unknownField(name, KNOWN)).toBe(`This field is not known. Did you mean ${field}?`);
  });

  it.each(['', '_', 'budget', 'rpms', 'a'.repeat(1_000_000)])('names none for %p', (name) => {
    expect(unknownField(name, KNOWN)).toBe('This field is not known.');
  });
});
