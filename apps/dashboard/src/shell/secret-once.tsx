import { Alert, Button, Checkbox, Code, Group, Modal, Stack, Text } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { COPY_LABELS, useCopy } from './copy-text.js';

interface SecretOnceProps {
  /** null closes the dialog. */
  secret: string | null;
  title: string;
  /** Forgets it: nothing else holds it then. */
  onDone: () => void;
  /** Page that one may want next. */
  next?: { label: string; to: string };
}

/** A secret that is shown once. Neither Escape nor a click beside it closes the dialog. */
export function SecretOnce({ secret, title, onDone, next }: SecretOnceProps): ReactNode {
  return (
    <Modal
      opened={secret !== null}
      onClose={() => undefined}
      title={title}
      size="lg"
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
    >
      {secret !== null && <Content secret={secret} onDone={onDone} next={next} />}
    </Modal>
  );
}

function Content({
  secret,
  onDone,
  next,
}: Pick<SecretOnceProps, 'onDone' | 'next'> & { secret: string }): ReactNode {
  const [copied, copy] = useCopy();
  const [isSaved, setSaved] = useState(false);
  return (
    <Stack>
      <Text size="sm">Save it now: it is shown this once, and the gateway keeps a digest of it only.</Text>
      <Code
        block
        data-testid="secret"
        style={{ userSelect: 'all', wordBreak: 'break-all', whiteSpace: 'pre-wrap' }}
      >
        {secret}
      </Code>
      <Group>
        <Button
          variant="default"
          leftSection={copied === 'copied' ? <IconCheck size={16} /> : <IconCopy size={16} />}
          onClick={() => copy(secret)}
        >
          {COPY_LABELS[copied]}
        </Button>
      </Group>
      {copied === 'refused' && (
        <Alert color="yellow" role="alert">
          The browser refused to copy: select the text above and copy it by hand.
        </Alert>
      )}
      <Checkbox
        label="I have saved it"
        checked={isSaved}
        onChange={({ currentTarget }) => setSaved(currentTarget.checked)}
      />
      <Group justify="flex-end">
        {next !== undefined && isSaved && (
          <Button variant="default" component={Link} to={next.to} onClick={onDone}>
            {next.label}
          </Button>
        )}
        <Button disabled={!isSaved} onClick={onDone}>
          Done
        </Button>
      </Group>
    </Stack>
  );
}
