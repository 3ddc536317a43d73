import { Alert, Button, Code, FileButton, Group, List, Stack, Text, TextInput } from '@mantine/core';
import { IconUpload } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { count } from '../format/time.js';
import { PageHead } from '../shell/page-head.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useImport, type Import, type ImportBody } from './admin.queries.js';

const NAMES_MAX = 50;
const FILE_BYTES_MAX = 8_000_000;
const FORCE_WORD = 'force';

interface Chosen {
  name: string;
  body: ImportBody;
}

/** Page that shows the changes of a file before it can be loaded. */
export default function CataloguePage(): ReactNode {
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const trial = useImport();
  const load = useImport();
  const choose = async (file: File | null): Promise<void> => {
    if (file === null) return;
    load.reset();
    trial.reset();
    const body = await bodyIn(file);
    setFault(typeof body === 'string' ? body : null);
    setChosen(typeof body === 'string' ? null : { name: file.name, body });
    if (typeof body !== 'string') trial.mutate({ ...body, dry_run: true });
  };
  const failure = load.error ?? trial.error;
  return (
    <>
      <PageHead
        title="Catalogue"
        about="A JSON file of models with their routes and prices, as POST /v1/admin/catalogue/import takes it, in place of the models that are there."
      >
        <FileButton accept="application/json,.json" onChange={(file) => void choose(file)}>
          {(props) => (
            <Button {...props} leftSection={<IconUpload size={16} />} loading={trial.isPending}>
              Choose a file
            </Button>
          )}
        </FileButton>
      </PageHead>
      <Stack>
        {fault !== null && (
          <Alert color="red" title="This file cannot be loaded">
            {fault}
          </Alert>
        )}
        {failure !== null && <ProblemCard failure={failure} />}
        {load.isSuccess && load.data.applied && (
          <Alert color="green" role="status" title="Loaded">
            {chosen?.name} is the catalogue now.
          </Alert>
        )}
        {chosen !== null && trial.isSuccess && !load.isSuccess && (
          <Difference
            name={chosen.name}
            trial={trial.data}
            isLoading={load.isPending}
            onLoad={(force) => load.mutate({ ...chosen.body, dry_run: false, force })}
          />
        )}
        {chosen === null && fault === null && (
          <Text size="sm" c="dimmed">
            Nothing is loaded before you have seen what it changes.
          </Text>
        )}
      </Stack>
    </>
  );
}

/** Returns the body in the file; a sentence where it has none. */
async function bodyIn(file: File): Promise<ImportBody | string> {
  if (file.size > FILE_BYTES_MAX) return 'It is larger than 8 MB.';
  try {
    const body = JSON.parse(await file.text()) as ImportBody;
    return Array.isArray(body.models) ? body : 'It has no list of models.';
  } catch {
    return 'It is no JSON.';
  }
}

interface DifferenceProps {
  name: string;
  trial: Import;
  isLoading: boolean;
  onLoad: (force: boolean) => void;
}

function Difference({ name, trial, isLoading, onLoad }: DifferenceProps): ReactNode {
  const [word, setWord] = useState('');
  const { added, removed, changed, unchanged, emptied_prices: emptied, faults, refused } = trial;
  const hasToForce = refused !== null;
  return (
    <Panel title={`What ${name} would change`} about={`${count(unchanged)} models stay as they are.`}>
      <Stack>
        <Names title="Added" names={added} />
        <Names title="Removed" names={removed} />
        <Names title="Changed" names={changed.map(({ id, fields }) => `${id}: ${fields.join(', ')}`)} />
        <Names title="Prices emptied" names={emptied.map((one) => Object.values(one).join(' '))} />
        <Names title="Faults" names={faults.map((one) => Object.values(one).flat().join(' '))} />
        {hasToForce && (
          <Alert color="red" title="It would be refused">
            <Text size="sm" mb="sm">
              {refused}
            </Text>
            <TextInput
              label={`Type ${FORCE_WORD} to load it all the same`}
              value={word}
              onChange={({ currentTarget }) => setWord(currentTarget.value)}
            />
          </Alert>
        )}
        <Group justify="flex-end">
          <Button
            color={hasToForce ? 'red' : undefined}
            disabled={hasToForce && word !== FORCE_WORD}
            loading={isLoading}
            onClick={() => onLoad(hasToForce)}
          >
            Load it
          </Button>
        </Group>
      </Stack>
    </Panel>
  );
}

function Names({ title, names }: { title: string; names: readonly string[] }): ReactNode {
  if (names.length === 0) return null;
  return (
    <div>
      <Text size="sm" fw={600}>
        {title}: {count(names.length)}
      </Text>
      <List size="sm">
        {names.slice(0, NAMES_MAX).map((name) => (
          <List.Item key={name}>
            <Code>{name}</Code>
          </List.Item>
        ))}
      </List>
      {names.length > NAMES_MAX && (
        <Text size="sm" c="dimmed">
          and {count(names.length - NAMES_MAX)} more
        </Text>
      )}
    </div>
  );
}
