/** @jest-environment jsdom */
import { TextInput } from '@mantine/core';
import { jest } from '@jest/globals';
import { cleanup, fireEvent, screen } from '@testing-library/react';
import { useState, type ReactNode } from 'react';
import { Problem } from '../api/problem.js';
import { rendered } from './rendered.fixture.js';

jest.unstable_mockModule('../api/call.js', () => ({
  api: { GET: async () => ({ data: { codes: {} } }) },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
const { FormEnd } = await import('./form-end.js');

function Form({ fields }: { fields: Record<string, string> }): ReactNode {
  const error = new Problem({ status: 422, code: 'invalid_parameter', message: 'It was refused.', fields });
  return (
    <form>
      <TextInput label="Name" error={error.fields.name} />
      <FormEnd write={{ error, isPending: false }} action="Save" />
    </form>
  );
}

describe('a form that was rejected', () => {
  afterEach(cleanup);

  it('says a fault once, beside its field, which has the focus', () => {
    rendered(<Form fields={{ name: 'Must be shorter.' }} />);
    expect(screen.getAllByText('Must be shorter.')).toHaveLength(1);
    expect(screen.queryByText('It was refused.')).toBeNull();
    expect(document.activeElement).toBe(screen.getByLabelText('Name'));
  });

  it('says why at its end where no field says it, or not every fault has a field', () => {
    rendered(<Form fields={{}} />);
    expect(screen.getByText('It was refused.')).toBeTruthy();
    cleanup();
    rendered(<Form fields={{ name: 'Must be shorter.', org_id: 'Is not known.' }} />);
    expect(screen.getByText('It was refused.')).toBeTruthy();
  });
});

/** Form of a name, whose write is on its way or done as the buttons say. */
function Naming(): ReactNode {
  const [name, setName] = useState('Search');
  const [state, setState] = useState<'idle' | 'pending' | 'success'>('idle');
  const write = { error: null, isPending: state === 'pending', isSuccess: state === 'success' };
  return (
    <>
      <TextInput label="Name" value={name} onChange={({ currentTarget }) => setName(currentTarget.value)} />
      <FormEnd write={write} action="Save" draft={{ name }} />
      <button onClick={() => setState('pending')}>Send</button>
      <button onClick={() => setState('success')}>Answer</button>
    </>
  );
}

describe('a form of what there is already', () => {
  afterEach(cleanup);

  it('cannot be sent while it is as it was saved, and can once it differs from what was sent', () => {
    rendered(<Naming />);
    const type = (value: string): void =>
      void fireEvent.change(screen.getByLabelText('Name'), { target: { value } });
    const press = (name: string): void => void fireEvent.click(screen.getByRole('button', { name }));
    const mayBeSent = (): boolean =>
      !screen.getByRole<HTMLButtonElement>('button', { name: 'Save' }).disabled;
    const seen = [mayBeSent()];
    type('Finder');
    seen.push(mayBeSent());
    press('Send');
    type('Finders');
    press('Answer');
    seen.push(mayBeSent());
    type('Finder');
    seen.push(mayBeSent());
    expect(seen).toEqual([false, true, true, false]);
  });
});
