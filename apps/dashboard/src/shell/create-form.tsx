import { Stack, Textarea, TextInput } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import type { Problem } from '../api/problem.js';
import { FormEnd } from './form-end.js';

/** One line of text that a new thing is given. */
export interface CreateField {
  /** Name of the member in the body, and in a rejection of it. */
  name: string;
  label: string;
  description?: string;
  required?: boolean;
  isMoney?: boolean;
  isLong?: boolean;
}

interface CreateFormProps {
  /** The first has the focus. */
  fields: readonly CreateField[];
  write: { error: Problem | null; isPending: boolean };
  /** Text of the button. */
  action: string;
  /** Called with the filled fields by name; empty ones are left out. */
  onSubmit: (filled: Readonly<Record<string, string>>) => void;
}

/** The form of something that is made of a name and little more. */
export function CreateForm({ fields, write, action, onSubmit }: CreateFormProps): ReactNode {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const trimmed = Object.entries(values).map(([name, value]) => [name, value.trim()] as const);
    onSubmit(Object.fromEntries(trimmed.filter(([, value]) => value !== '')));
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        {fields.map(({ name, label, description, required, isMoney, isLong }, at) => {
          const Input = isLong ? Textarea : TextInput;
          return (
            <Input
              key={name}
              label={label}
              description={description}
              required={required}
              inputMode={isMoney ? 'decimal' : undefined}
              data-autofocus={at === 0 || undefined}
              error={write.error?.fields[name]}
              value={values[name] ?? ''}
              onChange={({ currentTarget }) => setValues({ ...values, [name]: currentTarget.value })}
            />
          );
        })}
        <FormEnd write={write} action={action} />
      </Stack>
    </form>
  );
}
