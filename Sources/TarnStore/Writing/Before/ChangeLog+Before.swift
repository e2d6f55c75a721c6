/// The change records' images of the state before the commits.
extension ChangeLog {
  /// Writes a commit's record with images, and the long values that they refer to.
  static func put(
    _ changes: ChangeSet, _ meta: inout ChangeRecord.Meta, _ images: BeforeImages,
    in transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    if images.classes.isEmpty { return try put(changes, &meta, in: transaction) }
    let encoder = BeforeEncoder(images, changes)
    var sections = encoder.sections
    sections.longByteCount = encoder.longValues.reduce(0) { $0 + $1.count }
    try put(changes, &meta, sections, in: transaction)
    for (number, bytes) in encoder.longValues.enumerated() {
      try unsafe withBytes(of: bytes) { bytes throws(StorageError) in
        try unsafe Pieces.former(changes.to, UInt32(number)).put(bytes, in: transaction)
      }
    }
  }

  /// The changes of one commit, and the images in its record.
  package static func images(
    of version: Version, in transaction: ReadTransaction
  ) throws(StorageError) -> (changes: ChangeSet, images: BeforeImages) {
    let (_, changes, sections) = try sections(of: version, in: transaction)
    return (changes, try BeforeDecoder.images(sections, changes))
  }
}
