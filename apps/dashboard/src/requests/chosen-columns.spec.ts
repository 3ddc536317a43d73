import { chosenColumns, columnsText } from './chosen-columns.js';

const ALL = ['Time', 'Request', 'Model', 'Key', 'Status', 'Input', 'Output', 'Latency', 'Tags', 'Cost'];

describe('columns of the requests', () => {
  it('are the usual ones where the URL names none that there is', () => {
    const usual = chosenColumns(undefined, ALL);
    expect(usual).toContain('Cost');
    expect(usual).not.toContain('Tags');
    // An id says nothing of its request; the key does.
    expect([usual.has('Key'), usual.has('Request')]).toEqual([true, false]);
    expect(chosenColumns('Colour', ALL)).toEqual(usual);
    expect(columnsText([...usual], ALL)).toBeNull();
  });

  it('stand in the URL in the order of the table, and come back from it', () => {
    const text = columnsText(['Cost', 'Tags', 'Time'], ALL);
    expect(text).toBe('Time,Tags,Cost');
    expect(chosenColumns(text ?? '', ALL)).toEqual(new Set(['Time', 'Tags', 'Cost']));
  });
});
