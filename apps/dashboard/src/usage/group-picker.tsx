import { Select, TextInput } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { GROUPS } from './metrics.js';

interface GroupPickerProps {
  /** Group of the address: `team`, `tag` or `tag:<name>`. */
  groupBy: string;
  onChange: (groupBy: string | null) => void;
}

/** Chooses what requests are grouped by; of tags, by the name of one. */
export function GroupPicker({ groupBy, onChange }: GroupPickerProps): ReactNode {
  const [kind] = groupBy.split(':', 1);
  return (
    <>
      <Select
        aria-label="Group"
        data={GROUPS}
        allowDeselect={false}
        value={kind}
        onChange={(by) => onChange(by === 'model' ? null : by)}
        w={150}
      />
      {kind === 'tag' && <TagName key={groupBy} groupBy={groupBy} onChange={onChange} />}
    </>
  );
}

function TagName({ groupBy, onChange }: GroupPickerProps): ReactNode {
  const [name, setName] = useState(groupBy.slice('tag:'.length));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name !== '') onChange(`tag:${name}`);
  };
  return (
    <form onSubmit={submit}>
      <TextInput
        aria-label="Name of the tag"
        placeholder="Name of the tag, then Enter"
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        pattern="[^=]{1,128}"
        w={220}
      />
    </form>
  );
}
