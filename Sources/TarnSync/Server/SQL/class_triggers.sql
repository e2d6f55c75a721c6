--: function
CREATE OR REPLACE FUNCTION tarn.{{name}}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS {{quote}} {{mark}}
{{declarations}}BEGIN
{{body}}
END {{quote}};

--: triggers
CREATE OR REPLACE TRIGGER "{{last_trigger}}" BEFORE INSERT OR UPDATE ON {{table}}
  FOR EACH ROW EXECUTE FUNCTION tarn.merge_{{id}}();
ALTER TABLE {{table}} ENABLE ALWAYS TRIGGER "{{last_trigger}}";
CREATE OR REPLACE TRIGGER "{{last_trigger}}_gone" AFTER DELETE ON {{table}}
  REFERENCING OLD TABLE AS tarn_deleted
  FOR EACH STATEMENT EXECUTE FUNCTION tarn.bury({{id}});
-- Once a statement costs less than half of once a row. But the process that applies logical
-- replication runs no triggers of statements: this one is for its session_replication_role.
CREATE OR REPLACE TRIGGER "{{replica_trigger}}" AFTER DELETE ON {{table}}
  FOR EACH ROW EXECUTE FUNCTION tarn.bury({{id}});
ALTER TABLE {{table}} ENABLE REPLICA TRIGGER "{{replica_trigger}}";
CREATE OR REPLACE TRIGGER "{{last_trigger}}_moved" AFTER UPDATE ON {{table}}
  FOR EACH ROW WHEN (OLD._tarn_oid IS DISTINCT FROM NEW._tarn_oid)
  EXECUTE FUNCTION tarn.bury({{id}});
ALTER TABLE {{table}} ENABLE ALWAYS TRIGGER "{{last_trigger}}_moved";
CREATE OR REPLACE TRIGGER "{{last_trigger}}_truncate" BEFORE TRUNCATE ON {{table}}
  FOR EACH STATEMENT EXECUTE FUNCTION tarn.refuse_truncate();
ALTER TABLE {{table}} ENABLE ALWAYS TRIGGER "{{last_trigger}}_truncate";

--: note.declarations
DECLARE
  said jsonb := NEW._tarn_in;
  {{others}}

--: note.body
  IF others = 'true' THEN
    NEW._tarn_in := said || jsonb_build_object('key', NEW.{{key}}::text{{came}});
  END IF;
--: note.came
  , 'came', jsonb_object(
      ARRAY[{{names}}],
      ARRAY[
{{hashes}}])
--: note.column
    CASE WHEN TG_OP = 'INSERT' OR said->'cols' ? {{text}}
      THEN {{hash}} END
--: note.trigger
CREATE OR REPLACE TRIGGER {{trigger}} BEFORE INSERT OR UPDATE ON {{table}}
  FOR EACH ROW WHEN (NEW._tarn_in IS NOT NULL AND {{others}} IS DISTINCT FROM 'false')
  EXECUTE FUNCTION tarn.note_{{id}}();
ALTER TABLE {{table}} ENABLE ALWAYS TRIGGER {{trigger}};

--: look_for_others
  IF coalesce(others, '') = '' THEN
    SELECT EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = TG_RELID
      AND t.tgtype & 3 = 3 AND t.tgtype & 20 <> 0 AND t.tgenabled <> 'D'
      AND NOT t.tgisinternal AND t.tgname NOT IN ({{ours}}))::text
    INTO others;
    PERFORM set_config('tarn.others_{{id}}', others, true);
  END IF;
--: structure.body
IF NEW._tarn_in IS NULL THEN
{{columns}}
  NEW._tarn_in := jsonb_build_object('sql', to_jsonb(changed));
END IF;
RETURN NEW;
--: structure.column
  IF NEW.{{column}} IS DISTINCT FROM OLD.{{column}} THEN
    changed := changed || {{text}}::text;
  END IF;
--: structure.trigger
CREATE OR REPLACE TRIGGER {{trigger}} BEFORE UPDATE OF {{columns}} ON {{table}}
  FOR EACH ROW EXECUTE FUNCTION tarn.structure_{{id}}();
ALTER TABLE {{table}} ENABLE ALWAYS TRIGGER {{trigger}};

