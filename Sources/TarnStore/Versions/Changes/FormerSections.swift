/// The sections of a change record with values before the commit, as bytes: they are decoded
/// elsewhere, separately from the change set.
package struct FormerSections: Equatable, Sendable {
  /// By class, each with its kind and length, as in the record.
  private var classes: [ClassID: [[UInt8]]] = [:]
  /// The bytes of all sections.
  package private(set) var byteCount = 0
  /// The size of the long values that they refer to, which are stored under separate keys.
  package var longByteCount = 0

  package init() {}

  package var isEmpty: Bool { classes.isEmpty }

  /// The sections of a class in order.
  package subscript(id: ClassID) -> [[UInt8]] { classes[id] ?? [] }

  /// Adds a section with that payload.
  package mutating func append(_ kind: UInt8, _ payload: [UInt8], of id: ClassID) {
    assert(
      payload.count + Self.startBytes + ChangeRecord.chunkStartBytes
        <= ChangeRecord.chunkBytesMax)
    let length = UInt16(payload.count)
    var section = [kind, UInt8(truncatingIfNeeded: length), UInt8(truncatingIfNeeded: length >> 8)]
    section += payload
    byteCount += section.count
    classes[id, default: []].append(section)
  }

  /// The bytes before a section's payload: kind and length.
  static let startBytes = 3
}
