import { JsonInput, Select, Stack, Textarea, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Settings } from './chat.js';

interface SettingsFormProps {
  settings: Settings;
  onChange: (next: Settings) => void;
}

type Figure = 'temperature' | 'maxTokens' | 'topP' | 'seed';

const FIGURES: readonly { name: Figure; label: string; inputMode: 'decimal' | 'numeric' }[] = [
  { name: 'temperature', label: 'Temperature', inputMode: 'decimal' },
  { name: 'topP', label: 'Top P', inputMode: 'decimal' },
  { name: 'maxTokens', label: 'Max output tokens', inputMode: 'numeric' },
  { name: 'seed', label: 'Seed', inputMode: 'numeric' },
];
const EFFORTS = [
  { value: 'low', label: 'Low' },
  { value: 'medium', label: 'Medium' },
  { value: 'high', label: 'High' },
];

/** Settings of the next answer; what is empty is the model's own. */
export function SettingsForm({ settings, onChange }: SettingsFormProps): ReactNode {
  const change = (part: Partial<Settings>): void => onChange({ ...settings, ...part });
  const json = (name: 'tools' | 'schema', label: string, placeholder: string): ReactNode => (
    <JsonInput
      label={label}
      placeholder={placeholder}
      autosize
      minRows={2}
      maxRows={10}
      formatOnBlur
      validationError="This is not JSON"
      value={settings[name]}
      onChange={(text) => change({ [name]: text })}
    />
  );
  return (
    <Stack gap="sm">
      <Textarea
        label="System message"
        autosize
        minRows={2}
        maxRows={8}
        value={settings.system}
        onChange={({ currentTarget }) => change({ system: currentTarget.value })}
      />
      {FIGURES.map(({ name, label, inputMode }) => (
        <TextInput
          key={name}
          label={label}
          placeholder="the model's own"
          inputMode={inputMode}
          value={settings[name]}
          onChange={({ currentTarget }) => change({ [name]: currentTarget.value })}
        />
      ))}
      <Select
        label="Reasoning effort"
        placeholder="the model's own"
        clearable
        clearButtonProps={{ 'aria-label': 'Clear the reasoning effort' }}
        data={EFFORTS}
        value={settings.effort === '' ? null : settings.effort}
        onChange={(effort) => change({ effort: effort ?? '' })}
      />
      <Textarea
        label="Stop at"
        description="One text a line"
        autosize
        minRows={1}
        maxRows={4}
        value={settings.stop}
        onChange={({ currentTarget }) => change({ stop: currentTarget.value })}
      />
      {json('schema', 'Schema of the answer, as JSON', '{"type": "object", "properties": {…}}')}
      {json('tools', 'Tools, as JSON', '[{"type": "function", "function": {"name": "weather"}}]')}
    </Stack>
  );
}
