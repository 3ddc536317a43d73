/** @jest-environment jsdom */
import { parseSearch, stringifySearch } from './search-params.js';

describe('the query string', () => {
  it.each([
    ['', {}],
    ['?page=2', { page: '2' }],
    ['?label=a%26b%3Dc&status=active', { label: 'a&b=c', status: 'active' }],
    ['?q=gpt-5.1', { q: 'gpt-5.1' }],
  ])('%s reads and writes back', (text, search) => {
    expect(parseSearch(text)).toEqual(search);
    expect(stringifySearch(search)).toBe(text);
  });

  it('leaves out what is empty', () => {
    expect(stringifySearch({ page: '', label: undefined, status: null, sort: 'label' })).toBe('?sort=label');
  });
});
