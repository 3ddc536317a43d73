import { dropView, keepView, readViews } from './saved-views.js';

const PLACE = '/o/org_1/usage';

function storage(kept?: string): Pick<Storage, 'getItem' | 'setItem'> {
  const items = new Map<string, string>(kept === undefined ? [] : [[`views ${PLACE}`, kept]]);
  return { getItem: (key) => items.get(key) ?? null, setItem: (key, value) => void items.set(key, value) };
}

describe('views of a page', () => {
  it('are kept by name, the newest first, and go when they are dropped', () => {
    const kept = storage();
    keepView(kept, PLACE, { name: 'Errors', search: { metric: 'errors' } });
    keepView(kept, PLACE, { name: ' Keys ', search: { by: 'key' } });
    keepView(kept, PLACE, { name: 'Errors', search: { metric: 'errors', range: '30d' } });
    expect(readViews(kept, PLACE)).toEqual([
      { name: 'Errors', search: { metric: 'errors', range: '30d' } },
      { name: 'Keys', search: { by: 'key' } },
    ]);
    expect(readViews(kept, '/o/org_2/usage')).toEqual([]);
    expect(dropView(kept, PLACE, 'Errors').map(({ name }) => name)).toEqual(['Keys']);
    expect(keepView(kept, PLACE, { name: '  ', search: {} })).toHaveLength(1);
  });

  it('are at most 20', () => {
    const kept = storage();
    for (let n = 0; n < 25; n += 1) keepView(kept, PLACE, { name: `View ${n}`, search: {} });
    const names = readViews(kept, PLACE).map(({ name }) => name);
    expect([names.length, names[0]]).toEqual([20, 'View 24']);
  });

  it.each(['no json', '{}', '[{"name": 7, "search": {}}]', '[{"name": "a", "search": {"by": 1}}]', '[null]'])(
    'that cannot be read are none: %s',
    (text) => expect(readViews(storage(text), PLACE)).toEqual([]),
  );
});
