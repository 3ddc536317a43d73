import { Stack, TextInput } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { FormEnd } from '../shell/form-end.js';
import { limitChangeOf, limitDraftOf, LimitFields, type LimitDraft } from '../shell/limit-fields.js';
import { useChangeKey, type Key, type KeyChange } from './keys.queries.js';

type Draft = LimitDraft & { label: string };

/** Returns only the differences; an emptied field is cleared. A key's limits have shorter names in what is sent. */
export function changeOf(before: Draft, after: Draft): KeyChange {
  const { rpm_limit: rpm, rpd_limit: rpd, tpm_limit: tpm, ...rest } = limitChangeOf(before, after);
  const label = after.label.trim();
  return {
    ...(label === before.label ? {} : { label: label === '' ? null : label }),
    ...(rpm === undefined ? {} : { rpm }),
    ...(rpd === undefined ? {} : { rpd }),
    ...(tpm === undefined ? {} : { tpm }),
    ...rest,
  };
}

function draftOf(record: Key): Draft {
  return { ...limitDraftOf(record), label: record.label ?? '' };
}

export default function LimitsForm({ record }: { record: Key }): ReactNode {
  // What is read anew meanwhile does not undo what was typed.
  const [before, setBefore] = useState(() => draftOf(record));
  const [draft, setDraft] = useState<Draft>(before);
  const save = useChangeKey(record.id);
  const change = changeOf(before, draft);
  const isChanged = Object.keys(change).length > 0;
  const { rpm = '', rpd = '', tpm = '', ...errors } = save.error?.fields ?? {};
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const onSuccess = (saved: Key): void => {
      setBefore(draftOf(saved));
      setDraft(draftOf(saved));
    };
    save.mutate(change, { onSuccess });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label="Label"
          error={errors.label}
          value={draft.label}
          onChange={({ currentTarget }) => setDraft({ ...draft, label: currentTarget.value })}
        />
        <LimitFields
          draft={draft}
          onChange={(part) => setDraft({ ...draft, ...part })}
          capLabel="Spend cap, USD"
          errors={{ ...errors, rpm_limit: rpm, rpd_limit: rpd, tpm_limit: tpm }}
        />
        <FormEnd
          write={save}
          action="Save"
          said={save.isSuccess && !isChanged ? 'Saved. It holds for the next request.' : ''}
          isDisabled={!isChanged}
        />
      </Stack>
    </form>
  );
}
