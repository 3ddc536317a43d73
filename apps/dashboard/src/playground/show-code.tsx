import { Button, Modal, Tabs } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconCode } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { CodeBlock } from '../shell/code-block.js';
import { requestCode } from '../shell/request-code.js';
import { bodyOf, type Settings } from './chat.js';
import type { Lane } from './lanes.js';

const ENDPOINT = '/v1/chat/completions';
const NAMES = { curl: 'curl', python: 'Python', typescript: 'TypeScript' } as const;
type Language = keyof typeof NAMES;

interface ShowCodeProps {
  lane: Lane;
  settings: Settings;
}

/** Button that shows the conversation as code, which runs with a key of one's own. */
export function ShowCode({ lane, settings }: ShowCodeProps): ReactNode {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button variant="default" leftSection={<IconCode size={16} />} onClick={open}>
        Show code
      </Button>
      <Modal opened={isOpen} onClose={close} title="The same call" size="xl">
        {isOpen && <Languages codeOf={codeOf(lane, settings)} />}
      </Modal>
    </>
  );
}

/** Returns the code of a language; a sentence where a field of the settings is no JSON. */
function codeOf({ model, turns }: Lane, settings: Settings): (language: Language) => string {
  const asked = turns.length === 0 ? [{ role: 'user' as const, text: 'Hello' }] : turns;
  try {
    const body = bodyOf(model, asked, settings);
    const code = requestCode(location.origin, { endpoint: ENDPOINT, model, requested_model: null }, body);
    return (language) => code?.[language] ?? '';
  } catch (failure) {
    return () => (failure instanceof Error ? failure.message : '');
  }
}

function Languages({ codeOf: shown }: { codeOf: (language: Language) => string }): ReactNode {
  const languages = Object.keys(NAMES) as Language[];
  return (
    <Tabs defaultValue="curl">
      <Tabs.List mb="sm" aria-label="Language">
        {languages.map((language) => (
          <Tabs.Tab key={language} value={language}>
            {NAMES[language]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {languages.map((language) => (
        <Tabs.Panel key={language} value={language}>
          <CodeBlock code={shown(language)} label={`the call in ${NAMES[language]}`} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
