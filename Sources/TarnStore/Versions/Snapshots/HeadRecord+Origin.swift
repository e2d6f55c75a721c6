/// The history ids of backups, and of stores that are made of backups. They show where a store
/// comes from, so that its backups are known wherever it is and however old it is.
///
/// The first eight bytes are those of the original: they stay the same from a store to its backups,
/// and on to the stores that are made of these. The next four are the checksum of the original's
/// whole id: they tell the backups of a store from those of the store that was made of a backup.
/// The last four are random.
extension HeadRecord {
  /// Gives the record of a backup its history id.
  mutating func becomeBackup() {
    let low = UInt64(backupMark) << 32 | UInt64(UInt32.random(in: 0 ... .max))
    historyID = Bytes16(high: historyID.high, low: low)
  }

  /// The part of the history id that all backups of this store have.
  package var backupMark: UInt32 {
    var bytes: [UInt8] = []
    for half in [historyID.high, historyID.low] {
      unsafe withUnsafeBytes(of: half.bigEndian) { unsafe bytes.append(contentsOf: $0) }
    }
    return Checksum.of(bytes)
  }

  /// The mark that this record has if it is one of a backup.
  package var ownMark: UInt32 { UInt32(truncatingIfNeeded: historyID.low >> 32) }

  /// Whether one is a backup of the other, or both are backups of one store, also through stores
  /// that were made of backups.
  package func isKin(of other: HeadRecord) -> Bool { historyID.high == other.historyID.high }
}
