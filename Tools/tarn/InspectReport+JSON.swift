import TarnStore
import TarnText
import ToolSupport

extension InspectReport {
  /// Writes one object in one line.
  func writeJSON(_ output: OutputPipe) throws {
    var json = JSONText()
    json.beginObject()
    text("path", path, &json)
    number("version", snapshot.version.rawValue, &json)
    text("history", snapshot.head.historyID.uuidText, &json)
    if let notice = store.environment.copyNotice {
      json.key("copied")
      json.beginObject()
      number("inode", notice.inode, &json)
      text("noticed", notice.timeText, &json)
      json.endObject()
    }
    number("format", UInt64(HeadRecord.currentFormat), &json)
    number("schemaEpoch", snapshot.head.schemaEpoch, &json)
    text("engine", "LMDB \(Environment.engineVersion)", &json)
    writeSizes(&json)
    json.key("changeRecords")
    if let records = census.records {
      json.beginObject()
      number("first", records.lowerBound.rawValue, &json)
      number("last", records.upperBound.rawValue, &json)
      number("bytes", census.changes.bytes, &json)
      json.endObject()
    } else {
      json.null()
    }
    writeCollections(&json)
    try writeClasses(&json)
    writeUsers(&json)
    if let check { write(check, &json) }
    json.endObject()
    json.endLine()
    try output.write(json.bytes)
  }

  private func text(_ name: String, _ value: String, _ json: inout JSONText) {
    json.key(name)
    json.string(value)
  }

  private func number(_ name: String, _ value: UInt64, _ json: inout JSONText) {
    json.key(name)
    json.unsigned(value)
  }

  private func number(_ name: String, _ value: Int, _ json: inout JSONText) {
    json.key(name)
    json.integer(Int64(value))
  }

  private func writeSizes(_ json: inout JSONText) {
    number("fileBytes", statistics.fileByteCount, &json)
    json.key("pages")
    json.beginObject()
    number("bytes", pages.pageSize, &json)
    number("count", pages.pageCount, &json)
    number("branch", pages.branchPages, &json)
    number("leaf", pages.leafPages, &json)
    number("overflow", pages.overflowPages, &json)
    number("free", pages.freePages, &json)
    number("unreachable", pages.unreachablePages, &json)
    json.endObject()
  }

  /// The pages of collections that are stored outside of their objects.
  private func writeCollections(_ json: inout JSONText) {
    let found = census.collections
    json.key("collections")
    json.beginObject()
    number("bytes", found.bytes, &json)
    for (name, tally) in [
      ("page", found.pages), ("rowCount", found.rowCounts),
      ("longElement", found.longElements), ("nested", found.nested),
      ("linkCount", found.linkCounts),
    ] {
      number(name + "Entries", tally.entries, &json)
      number(name + "Bytes", tally.bytes, &json)
    }
    json.endObject()
  }

  private func writeClasses(_ json: inout JSONText) throws {
    json.key("classes")
    json.beginArray()
    for schema in snapshot.schema.schema.classes {
      let tally = census.classes[Int(schema.id.rawValue)]
      json.beginObject()
      text("name", schema.name, &json)
      json.key("embedded")
      json.bool(schema.isEmbedded)
      number("objects", try reader.record(of: schema.id).rowCount, &json)
      number("bytes", tally.bytes, &json)
      number("clusters", tally.clusters.entries, &json)
      number("clusterBytes", tally.clusters.bytes, &json)
      number("indexBytes", tally.indexes.bytes, &json)
      number("longValueBytes", tally.longValues.bytes, &json)
      json.key("columns")
      json.beginArray()
      for column in schema.shownColumns { write(column, schema, &json) }
      json.endArray()
      json.key("unique")
      json.beginArray()
      for rule in schema.uniqueRules {
        json.beginArray()
        for column in rule { json.string(schema[column].name) }
        json.endArray()
      }
      json.endArray()
      json.endObject()
    }
    json.endArray()
  }

  private func write(_ column: ColumnSchema, _ schema: ClassSchema, _ json: inout JSONText) {
    json.beginObject()
    text("name", column.name, &json)
    text("type", ValueText.name(of: column.type), &json)
    if column.collection != .none { text("collection", "\(column.collection)", &json) }
    text("declared", SchemaText.type(of: column, snapshot.schema.schema), &json)
    json.key("optional")
    json.bool(column.isOptional)
    json.key("indexed")
    json.bool(column.isIndexed)
    json.key("primaryKey")
    json.bool(column.id == schema.primaryKey)
    if let target = column.target {
      text("target", snapshot.schema.schema[target]?.name ?? "", &json)
      text("onDelete", "\(column.deleteRule)", &json)
    }
    json.endObject()
  }

  private func writeUsers(_ json: inout JSONText) {
    json.key("processes")
    json.beginArray()
    for process in processes { json.integer(Int64(process.processID)) }
    json.endArray()
    json.key("readers")
    json.beginArray()
    for reader in census.readers {
      json.beginObject()
      write(reader.process, &json)
      number("commitsBehind", reader.commitsBehind, &json)
      number("versionsBehind", reader.versionsBehind, &json)
      number("keptBytes", reader.keptBytes, &json)
      if let since = reader.sinceText { text("since", since, &json) }
      json.endObject()
    }
    json.endArray()
    json.key("cursors")
    json.beginArray()
    for cursor in feed.cursors { feed.write(cursor, to: &json) }
    json.endArray()
    json.key("retention")
    if feed.retention.isEmpty {
      json.null()
    } else {
      json.string(RetentionCommand.text(feed.retention))
    }
    json.key("writer")
    if let holder = store.gate.holder {
      json.beginObject()
      write(holder.process, &json)
      json.key("heldForSeconds")
      json.double(holder.heldFor.seconds)
      json.endObject()
    } else {
      json.null()
    }
  }

  private func write(_ process: SignalProcess, _ json: inout JSONText) {
    number("pid", Int(process.processID), &json)
    guard process.isElsewhere else { return }
    json.key("inAnotherContainer")
    json.bool(true)
  }

  private func write(_ check: StoreCheck, _ json: inout JSONText) {
    json.key("check")
    json.beginObject()
    json.key("sound")
    json.bool(check.problems.isEmpty)
    json.key("problems")
    json.beginArray()
    for problem in check.problems { json.string(problem) }
    json.endArray()
    if check.areOnlyIndexesWrong {
      json.key("remedy")
      json.string(ReindexCommand.line(for: path))
    }
    json.endObject()
  }
}
