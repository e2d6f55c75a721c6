import TarnStore

/// A commit of this file as the server knows it.
struct CommitName: Equatable {
  /// The version that it made.
  var version: UInt64 = 0
  /// Its random id, which differs in a copy of the file.
  var id: UInt64 = 0

  init() {}

  init(version: UInt64, id: UInt64) { (self.version, self.id) = (version, id) }

  init(_ place: FeedPlace) { self.init(version: place.version.rawValue, id: place.commitID) }

  init(_ pair: (version: Int64, commit: Int64)) {
    self.init(version: UInt64(clamping: pair.version), id: UInt64(bitPattern: pair.commit))
  }

  /// In the form of `Push` and `Pull`.
  var pair: (version: Int64, commit: Int64) {
    (Int64(clamping: version), Int64(bitPattern: id))
  }
}

/// A replica's record of its server and of its own commits there. It is stored in the file, and
/// changes in the same commit as the objects concerned.
struct ReplicaState: Equatable {
  /// A random number that identifies the replica on the server.
  var id = Bytes16.random()
  /// The server's number for it.
  var number: UInt32 = 0
  /// The names of this replica in the elements that its commits insert.
  var authors = [LocalContents.Author(version: 0, number: .random(in: 1 ... .max))]
  /// When the cursor that keeps the file's unsent commits was created, in microseconds since 1970:
  /// a later cursor may have its number.
  var cursor: Int64 = 0
  /// The identity of the server; empty before the first download.
  var server = ""
  /// The position up to which everything has been downloaded.
  var position = ServerPosition.none
  /// The last commit that the server has.
  var sent = CommitName()
  /// The position up to which commits are sent, refused, or irrelevant to the server.
  var done: FeedPlace
  /// The push whose answer is missing, with the stamp of its last commit; nil if none is known.
  var attempt: Attempt?
  /// The stamp of the last commit that was joined and is not sent, in microseconds since 1970; 0
  /// without one. Joined commits are those up to `done`.
  var joinedTime: Int64 = 0
  /// The old values of all classes are kept from this version on.
  var start: UInt64 = 0
  /// The names of the classes that were downloaded.
  var classes: Set<String> = []
  /// Whether objects may have to be sent that no unsent commit has created: objects from before the
  /// first download, or objects that the server has lost.
  var hasUploads = true
  /// Whether a migration has changed objects in an unknown way, so that all of them must be fetched
  /// again.
  var isStale = false
  /// Only the downloaded stamps are stored: each session reads the server's clock.
  var limit = StampLimit()

  struct Attempt: Equatable {
    let last: CommitName
    let time: Int64
    /// Whether it was a push of joined commits.
    let isJoined: Bool
  }

  /// In the form of `uuid` columns.
  var idText: String { id.hexadecimal }
}

extension Bytes16 {
  fileprivate var hexadecimal: String {
    [high, low].map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}

extension ReplicaState {
  static let key = ReplicaKey(128, ClassID(0), 0)
  /// Version 2 added the start, 3 the fields for joined commits, 4 the downloaded stamps.
  private static let format: UInt8 = 4

  private struct Flags {
    static let uploads: UInt8 = 1
    static let stale: UInt8 = 2
  }

  var encoded: [UInt8] {
    var writer = BigEndianWriter()
    writer.write(Self.format)
    writer.write((hasUploads ? Flags.uploads : 0) | (isStale ? Flags.stale : 0))
    for word in [
      id.high, id.low, done.historyID.high, done.historyID.low, done.version.rawValue,
      done.commitID, sent.version, sent.id, position.end,
    ] { writer.write(word) }
    writer.write(number)
    writer.write(cursor)
    writer.write(count: position.open.count)
    for transaction in position.open { writer.write(transaction) }
    writer.write(text: server)
    writer.write(texts: classes.sorted())
    writer.write(count: authors.count)
    for author in authors {
      writer.writeVariable(author.version)
      writer.write(author.number)
    }
    writer.write(start)
    writer.write(joinedTime)
    for word in [attempt?.last.version ?? 0, attempt?.last.id ?? 0] { writer.write(word) }
    writer.write(attempt?.time ?? 0)
    writer.write(UInt8(attempt?.isJoined == true ? 1 : 0))
    writer.write(count: limit.seen.count)
    for seen in limit.seen {
      writer.writeVariable(seen.version)
      writer.write(seen.stamp)
    }
    return writer.bytes
  }

  /// - Throws: `.corrupted` for damaged bytes, `.newerFormat` for a record of a later library.
  init(_ bytes: [UInt8], path: String) throws(StorageError) {
    guard let format = bytes.first, format <= Self.format else {
      throw StorageError(
        .newerFormat, operation: "read the state of sync", path: path,
        detail: "it has format \(bytes.first ?? 0), this library reads up to \(Self.format)")
    }
    guard let state = Self(decoding: bytes) else {
      throw StorageError(
        .corrupted, operation: "read the state of sync", path: path,
        detail: "its bytes are damaged")
    }
    self = state
  }

  private init?(decoding bytes: [UInt8]) {
    var reader = BigEndianReader(bytes)
    guard let format: UInt8 = reader.read(), let flags: UInt8 = reader.read() else { return nil }
    var words: [UInt64] = []
    for _ in 0..<9 {
      guard let word: UInt64 = reader.read() else { return nil }
      words.append(word)
    }
    done = FeedPlace(
      historyID: Bytes16(high: words[2], low: words[3]), version: Version(words[4]),
      commitID: words[5])
    id = Bytes16(high: words[0], low: words[1])
    sent = CommitName(version: words[6], id: words[7])
    guard let number: UInt32 = reader.read(), let cursor: Int64 = reader.read(),
      let count = reader.readCount()
    else { return nil }
    (self.number, self.cursor) = (number, cursor)
    var open: [UInt64] = []
    for _ in 0..<count {
      guard let transaction: UInt64 = reader.read() else { return nil }
      open.append(transaction)
    }
    position = ServerPosition(end: words[8], open: open)
    guard let server = reader.readText(), let names = reader.readTexts() else { return nil }
    (self.server, classes) = (server, Set(names))
    guard let authorCount = reader.readCount() else { return nil }
    authors = []
    for _ in 0..<authorCount {
      guard let version = reader.readVariable(), let number: UInt32 = reader.read() else {
        return nil
      }
      authors.append(LocalContents.Author(version: version, number: number))
    }
    start = done.version.rawValue
    if format > 1 {
      guard let start: UInt64 = reader.read() else { return nil }
      self.start = start
    }
    if format > 2 {
      guard let joined: Int64 = reader.read(), let version: UInt64 = reader.read(),
        let id: UInt64 = reader.read(), let time: Int64 = reader.read(),
        let isOfJoined: UInt8 = reader.read()
      else { return nil }
      joinedTime = joined
      if version > 0 {
        let last = CommitName(version: version, id: id)
        attempt = Attempt(last: last, time: time, isJoined: isOfJoined != 0)
      }
    }
    if format > 3 {
      guard let count = reader.readCount() else { return nil }
      var seen: [StampLimit.Seen] = []
      for _ in 0..<count {
        guard let version = reader.readVariable(), let stamp: Int64 = reader.read() else {
          return nil
        }
        seen.append(StampLimit.Seen(version: version, stamp: stamp))
      }
      limit = StampLimit(seen: seen)
    }
    hasUploads = flags & Flags.uploads != 0
    isStale = flags & Flags.stale != 0
    guard reader.isAtEnd else { return nil }
  }
}
