-- True from before a provider is asked to begin the video until an answer says what came of it: nobody begins it again.
ALTER TABLE video_tasks ADD COLUMN is_asked boolean NOT NULL DEFAULT false;
