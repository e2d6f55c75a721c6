import TarnStore
import TarnText

/// The lines of a dump, each of them JSON:
///
///     {"dump":1,"schemaVersion":2,"classes":[…]}
///     {"class":"Dog","objects":2,"nextKey":7}
///     [0,{"name":"Rex","owner":3}]
///     [5,{"name":"Ann","owner":null}]
///
/// The first has the classes as `SchemaJSON` writes them. Each class that is not embedded follows
/// in that order: a line with the number of its objects, then a line for each, in the order of
/// their object keys. `nextKey` is the key of the next new object, where keys are counted.
enum DumpText {
  static let format: Int64 = 1

  static func header(_ classes: [ClassSchema], _ schema: StoreSchema, version: UInt64) -> JSONText {
    var json = JSONText()
    json.beginObject()
    json.key("dump")
    json.integer(format)
    json.key("schemaVersion")
    json.unsigned(version)
    json.key("classes")
    json.value(SchemaJSON.json(classes, schema))
    json.endObject()
    json.endLine()
    return json
  }

  static func section(_ described: ClassSchema, _ record: ClassRecord) -> JSONText {
    var json = JSONText()
    json.beginObject()
    json.key("class")
    json.string(described.name)
    json.key("objects")
    json.integer(Int64(record.rowCount))
    if !described.keyIsPrimary {
      json.key("nextKey")
      json.integer(record.nextKey.rawValue)
    }
    json.endObject()
    json.endLine()
    return json
  }
}
