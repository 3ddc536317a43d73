import {
  Button,
  Group,
  JsonInput,
  Modal,
  MultiSelect,
  SimpleGrid,
  Stack,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useDebouncedValue, useDisclosure } from '@mantine/hooks';
import { IconCode } from '@tabler/icons-react';
import { useLocation } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useMe } from '../session/me.queries.js';
import { CodeBlock } from '../shell/code-block.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import type { Replay } from '../shell/replay.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { bodyOf, curlOf, type Settings, type Turn } from './chat.js';
import { Composer } from './composer.js';
import { LaneView } from './lane-view.js';
import { useLanes, type Lane } from './lanes.js';
import { playgroundKey, useTextModels } from './playground.queries.js';

const FIRST_MODEL = 'simulator/chat';
const LANES_MAX = 4;
const SEARCH_AFTER_MS = 300;
const NOTHING: Replay = {
  ...{ system: '', temperature: '', maxTokens: '', tools: '', past: [] },
  last: { role: 'user', text: '' },
};

export default function PlaygroundPage(): ReactNode {
  const org = useOrg();
  const person = useMe().data?.user;
  const [url, change] = useParamsOfUrl();
  const models = (url.models ?? FIRST_MODEL).split(',').filter(Boolean).slice(0, LANES_MAX);
  const replay = useLocation().state.replay ?? NOTHING;
  const [settings, setSettings] = useState<Settings>(replay);
  const { lanes, send, stop, clear } = useLanes(models, replay.past);
  const isRunning = lanes.some((lane) => lane.isRunning);
  const sendAs = (turn: Turn): void => {
    if (person !== undefined) send(turn, settings, () => playgroundKey(org.id, person, Date.now()));
  };
  return (
    <>
      <PageHead title="Playground" about="Requests are billed to your playground key (limit $5).">
        <Button variant="default" onClick={clear} disabled={isRunning}>
          Clear
        </Button>
        <ShowCode lanes={lanes} settings={settings} />
      </PageHead>
      <Stack>
        <Models chosen={models} onChange={(chosen) => change({ models: chosen.join(',') })} />
        <SimpleGrid
          cols={{ base: 1, md: Math.min(2, Math.max(1, lanes.length)) }}
          style={{ alignItems: 'start' }}
        >
          {lanes.map((lane) => (
            <LaneView key={lane.model} lane={lane} />
          ))}
        </SimpleGrid>
        <Panel>
          <Composer draft={replay.last} isRunning={isRunning} onStop={stop} onSend={sendAs} />
        </Panel>
        <Panel title="Settings">
          <SettingsForm settings={settings} onChange={setSettings} />
        </Panel>
      </Stack>
    </>
  );
}

function Models({ chosen, onChange }: { chosen: string[]; onChange: (models: string[]) => void }): ReactNode {
  const [q, setQ] = useState('');
  const [searched] = useDebouncedValue(q, SEARCH_AFTER_MS);
  const models = useTextModels(searched);
  if (models.isError) return <ProblemCard failure={models.error} retry={() => void models.refetch()} />;
  const found = models.data?.map(({ id }) => id) ?? [];
  return (
    <MultiSelect
      label="Models"
      description="Up to four, side by side"
      data={[...new Set([...chosen, ...found])]}
      value={chosen}
      onChange={(next) => next.length > 0 && onChange(next)}
      maxValues={LANES_MAX}
      searchable
      searchValue={q}
      onSearchChange={setQ}
      nothingFoundMessage="No text model of this name"
      hidePickedOptions
    />
  );
}

function SettingsForm({
  settings,
  onChange,
}: {
  settings: Settings;
  onChange: (next: Settings) => void;
}): ReactNode {
  return (
    <Stack gap="sm">
      <Textarea
        label="System message"
        autosize
        minRows={1}
        maxRows={8}
        value={settings.system}
        onChange={({ currentTarget }) => onChange({ ...settings, system: currentTarget.value })}
      />
      <Group grow align="flex-start">
        <TextInput
          label="Temperature"
          placeholder="the model's own"
          inputMode="decimal"
          value={settings.temperature}
          onChange={({ currentTarget }) => onChange({ ...settings, temperature: currentTarget.value })}
        />
        <TextInput
          label="Max output tokens"
          placeholder="the model's own"
          inputMode="numeric"
          value={settings.maxTokens}
          onChange={({ currentTarget }) => onChange({ ...settings, maxTokens: currentTarget.value })}
        />
      </Group>
      <JsonInput
        label="Tools, as JSON"
        placeholder='[{"type": "function", "function": {"name": "weather", "parameters": {…}}}]'
        autosize
        minRows={2}
        maxRows={14}
        formatOnBlur
        validationError="This is not JSON"
        value={settings.tools}
        onChange={(tools) => onChange({ ...settings, tools })}
      />
    </Stack>
  );
}

function ShowCode({ lanes, settings }: { lanes: readonly Lane[]; settings: Settings }): ReactNode {
  const [isOpen, { open, close }] = useDisclosure(false);
  const [lane] = lanes;
  const code = (): string => {
    try {
      const turns = lane.turns.length === 0 ? [{ role: 'user' as const, text: 'Hello' }] : lane.turns;
      return curlOf(location.origin, bodyOf(lane.model, turns, settings));
    } catch (failure) {
      return failure instanceof Error ? failure.message : '';
    }
  };
  return (
    <>
      <Button variant="default" leftSection={<IconCode size={16} />} onClick={open}>
        Show code
      </Button>
      <Modal opened={isOpen} onClose={close} title="The same call" size="xl">
        {isOpen && <CodeBlock code={code()} label="the call in curl" />}
      </Modal>
    </>
  );
}
