import { Select } from '@mantine/core';
import type { ReactNode } from 'react';
import { SCOPE_WORDS } from '../format/limit-words.js';
import { KeyChoice } from './key-choice.js';
import { useScopeChoices } from './limits.queries.js';
import type { NewBudget } from './period-budgets.queries.js';

const SCOPES = ['team', 'key', 'member', 'org'] as const;

interface BudgetScopeProps {
  org: string;
  scope: NewBudget['scope'];
  id: string | null;
  onChange: (scope: NewBudget['scope'], id: string | null) => void;
  error: string | undefined;
}

/** Fields of the level that a budget holds for, and of which one. */
export function BudgetScope({ org, scope, id, onChange, error }: BudgetScopeProps): ReactNode {
  const choices = useScopeChoices(org).data;
  const rows = scope === 'team' ? choices?.teams : choices?.members;
  return (
    <>
      <Select
        label="Of"
        data={SCOPES.map((value) => ({ value, label: SCOPE_WORDS[value] }))}
        allowDeselect={false}
        value={scope}
        onChange={(next) => {
          const chosen = SCOPES.find((one) => one === next) ?? scope;
          onChange(chosen, chosen === 'org' ? org : null);
        }}
      />
      {scope === 'key' && <KeyChoice value={id} onChange={(key) => onChange(scope, key)} error={error} />}
      {(scope === 'team' || scope === 'member') && (
        <Select
          label={SCOPE_WORDS[scope]}
          searchable
          data={(rows ?? []).map((row) => ({ value: row.id, label: row.name }))}
          error={error}
          value={id}
          onChange={(next) => onChange(scope, next)}
        />
      )}
    </>
  );
}
