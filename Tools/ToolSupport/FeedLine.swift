package import Tarn
import TarnStore

/// A batch of one class as a line of JSON, in pieces.
///
///     {"version":20,"from":17,"class":"Dog","position":"…","deleted":[{"key":1}],
///      "modified":[{"key":2,"properties":["age"],"old":{"age":3},"new":{"id":2,"age":4}}]}
///
/// A new beginning has `"startAnew":"expired"` and `"objects"` instead. Confined to one thread at a
/// time.
package final class FeedLine {
  private enum Place {
    case start
    case objects(Int)
    case end
  }

  /// A piece is about that long.
  private static let pieceBytes = 1 << 15

  private let batch: ChangeBatch
  private let className: String
  private let values: RecordedJSON
  private let described: ClassSchema?
  private let members: [JSONMember]
  private let objects: Results<DynamicObject>?
  private let changes: ObjectChanges<DynamicObject>
  private var place = Place.start
  private var json = JSONText()

  /// - Parameters:
  ///   - columns: the only columns that are written, besides the primary key; nil for all.
  ///   - members: written first.
  package init(
    _ batch: ChangeBatch, ofClass className: String, columns: Set<String>? = nil,
    _ members: [JSONMember] = []
  ) {
    self.batch = batch
    self.className = className
    self.members = members
    values = RecordedJSON(schema: batch.storeSchema, columns: columns)
    described = batch.storeSchema.named(className)
    changes = batch.changes(ofClass: className)
    objects = batch.startAnew == nil ? nil : batch.objects(ofClass: className)
  }

  /// All of it.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    while let piece = next() { bytes += piece }
    return bytes
  }

  /// The next piece; nil at the end.
  package func next() -> [UInt8]? {
    switch place {
    case .start: begin()
    case .objects(let next): place = writeObjects(from: next)
    case .end: return nil
    }
    return json.takeBytes()
  }

  private func begin() {
    json.beginObject()
    for member in members {
      json.key(member.name)
      json.value(member.value)
    }
    json.key("version")
    json.unsigned(batch.to)
    json.key("from")
    json.unsigned(batch.from)
    json.key("class")
    json.string(className)
    json.key("position")
    json.string(batch.position.description)
    if let reason = batch.startAnew {
      json.key("startAnew")
      json.string("\(reason)")
      json.key("objects")
      json.beginArray()
      place = .objects(0)
    } else {
      writeChanges()
      end()
    }
  }

  private func writeChanges() {
    if batch.isRepeated {
      json.key("repeated")
      json.bool(true)
    }
    if changes.isCleared {
      json.key("cleared")
      json.bool(true)
    }
    if let described { values.write(changes.recorded, of: described, to: &json) }
  }

  private func end() {
    json.endObject()
    json.endLine()
    place = .end
  }

  /// Writes selected objects until a piece is full; returns where to go on.
  private func writeObjects(from first: Int) -> Place {
    guard let objects, let described else { return .end }
    var index = first
    while index < objects.count, json.bytes.count < Self.pieceBytes {
      let identity = changes.identity(of: objects[index])
      json.beginObject()
      json.key("key")
      json.value(RecordedJSON.name(of: identity))
      json.key("new")
      json.value(values.object(changes.values(of: identity) ?? [:], of: described))
      json.endObject()
      index += 1
    }
    if index < objects.count { return .objects(index) }
    json.endArray()
    end()
    return place
  }
}
