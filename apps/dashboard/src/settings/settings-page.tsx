import { Stack, Text, TextInput } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import type { Schemas } from '../api/schemas.js';
import { useIsBilled } from '../session/me.queries.js';
import { FormEnd } from '../shell/form-end.js';
import { limitChangeOf, limitDraftOf, LimitFields, type LimitDraft } from '../shell/limit-fields.js';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { Loading } from '../shell/states.js';
import { CopyText } from '../shell/copy-text.js';
import { RequestLogging } from './request-logging.js';
import { useChangeOrg, useOrgRecord, type Org } from './settings.queries.js';

export default function SettingsPage(): ReactNode {
  const { id } = useOrg();
  const org = useOrgRecord(id ?? '');
  const isBilled = useIsBilled();
  return (
    <>
      <PageHead title="Settings" about={<CopyText text={id ?? ''} label="organization id" />} />
      {org.isPending && <Loading height={320} />}
      {org.isError && <ProblemCard failure={org.error} retry={() => void org.refetch()} />}
      {org.isSuccess && (
        <Stack maw={760}>
          <Panel title="Organization">
            <OrgForm key={org.data.id} org={org.data} />
          </Panel>
          <RequestLogging org={org.data} />
          <Panel title="Set by the platform">
            <Text size="sm" component="div">
              Tier {org.data.tier}
              {isBilled && (
                <>
                  ; the balance may go below zero by{' '}
                  <Money usd={org.data.credit_limit_usd} none="any amount" />
                </>
              )}
              .
            </Text>
          </Panel>
        </Stack>
      )}
    </>
  );
}

type Draft = LimitDraft & Record<'name' | 'default_api_version', string>;

function draftOf(org: Org): Draft {
  return { ...limitDraftOf(org), name: org.name, default_api_version: org.default_api_version ?? '' };
}

/** Returns only the differences; an emptied field is cleared. */
function changeOf(before: Draft, after: Draft): Schemas['UpdateOrgBody'] {
  const name = after.name.trim();
  const version = after.default_api_version.trim();
  return {
    ...(name === before.name ? {} : { name }),
    ...(version === before.default_api_version
      ? {}
      : { default_api_version: version === '' ? null : version }),
    ...limitChangeOf(before, after),
  };
}

function OrgForm({ org }: { org: Org }): ReactNode {
  // What is read anew meanwhile does not undo what was typed.
  const [before, setBefore] = useState(() => draftOf(org));
  const [draft, setDraft] = useState(before);
  const save = useChangeOrg(org.id);
  const change = changeOf(before, draft);
  const isChanged = Object.keys(change).length > 0;
  const fields = save.error?.fields ?? {};
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const onSuccess = (saved: Org): void => {
      setBefore(draftOf(saved));
      setDraft(draftOf(saved));
    };
    save.mutate(change, { onSuccess });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label="Name"
          required
          error={fields.name}
          value={draft.name}
          onChange={({ currentTarget }) => setDraft({ ...draft, name: currentTarget.value })}
        />
        <TextInput
          label="API version of new keys"
          description="YYYY-MM; empty = none: they get the oldest that is served"
          error={fields.default_api_version}
          value={draft.default_api_version}
          onChange={({ currentTarget }) => setDraft({ ...draft, default_api_version: currentTarget.value })}
        />
        <LimitFields
          draft={draft}
          onChange={(part) => setDraft({ ...draft, ...part })}
          capLabel="Spend cap of 30 days, USD"
          errors={fields}
        />
        <FormEnd
          write={save}
          action="Save"
          said={save.isSuccess && !isChanged ? 'Saved.' : ''}
          isDisabled={!isChanged}
        />
      </Stack>
    </form>
  );
}
