import { Button, Group, MultiSelect, SimpleGrid, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useLocation } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useMe } from '../session/me.queries.js';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import type { Replay } from '../shell/replay.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { NO_SETTINGS, type Settings, type Turn } from './chat.js';
import { Composer } from './composer.js';
import { LaneView } from './lane-view.js';
import { useLanes, type Lane } from './lanes.js';
import { priceOf } from './model-price.js';
import { playgroundKey, useSpent, useTextModels } from './playground.queries.js';
import classes from './playground.module.css';
import { SettingsForm } from './settings-form.js';
import { ShowCode } from './show-code.js';

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
  const { past, last, ...replayed } = useLocation().state.replay ?? NOTHING;
  const [settings, setSettings] = useState<Settings>({ ...NO_SETTINGS, ...replayed });
  const { lanes, send, answer, stop, clear } = useLanes(models, past);
  const isRunning = lanes.some((lane) => lane.isRunning);
  const key = (): Promise<string> =>
    person === undefined ? Promise.resolve('') : playgroundKey(org.id, person, Date.now());
  const sendAs = (turn: Turn): void => {
    if (person !== undefined) send(turn, settings, key);
  };
  return (
    <>
      <PageHead title="Playground" about={<Spent lanes={lanes} />}>
        <Button variant="default" onClick={clear} disabled={isRunning}>
          Clear
        </Button>
        <ShowCode lane={lanes[0]} settings={settings} />
      </PageHead>
      <div className={classes.page}>
        <div className={classes.talk}>
          <Models chosen={models} onChange={(chosen) => change({ models: chosen.join(',') })} />
          <SimpleGrid
            className={classes.lanes}
            cols={{ base: 1, md: Math.min(2, Math.max(1, lanes.length)) }}
            style={{ alignItems: 'start', alignContent: 'start' }}
          >
            {lanes.map((lane) => (
              <LaneView
                key={lane.model}
                lane={lane}
                onResults={(results) => answer(lane.model, results, settings, key)}
              />
            ))}
          </SimpleGrid>
          <div className={classes.composer}>
            <Panel>
              <Composer draft={last} isRunning={isRunning} onStop={stop} onSend={sendAs} />
            </Panel>
          </div>
        </div>
        <div className={classes.side}>
          <Panel title="Settings">
            <SettingsForm settings={settings} onChange={setSettings} />
          </Panel>
        </div>
      </div>
    </>
  );
}

/** Sentence about the key that pays, and what it has spent so far. */
function Spent({ lanes }: { lanes: readonly Lane[] }): ReactNode {
  const spent = useSpent(
    useOrg().id,
    lanes.some(({ answer }) => answer !== null),
  ).data;
  if (spent === undefined) return 'Requests are billed to your playground key (limit $5).';
  return (
    <>
      Your playground key has spent <Money usd={spent.spent_usd} none="an unknown amount" isPrice /> of{' '}
      <Money usd={spent.spend_cap_usd} none="any amount" />.
    </>
  );
}

function Models({ chosen, onChange }: { chosen: string[]; onChange: (models: string[]) => void }): ReactNode {
  const [q, setQ] = useState('');
  const [searched] = useDebouncedValue(q, SEARCH_AFTER_MS);
  const models = useTextModels(searched);
  if (models.isError) return <ProblemCard failure={models.error} retry={() => void models.refetch()} />;
  const found = models.data?.map(({ id }) => id) ?? [];
  const priceOfId = (id: string): string => priceOf(models.data?.find((model) => model.id === id));
  return (
    <MultiSelect
      label="Models"
      description="Up to four that are ready, side by side"
      data={[...new Set([...chosen, ...found])]}
      value={chosen}
      onChange={(next) => next.length > 0 && onChange(next)}
      maxValues={LANES_MAX}
      searchable
      searchValue={q}
      onSearchChange={setQ}
      nothingFoundMessage="No text model of this name"
      hidePickedOptions
      renderOption={({ option: { value } }) => (
        <Group justify="space-between" gap="xs" w="100%">
          <Text size="sm">{value}</Text>
          <Text size="xs" c="dimmed">
            {priceOfId(value)}
          </Text>
        </Group>
      )}
    />
  );
}
