import Foundation
import Tarn
import TarnStore
import ToolSupport

/// The position of a consumer in the state folder: what it has got, the end of what is being sent
/// to it, and the file that it consumes.
///
/// Two slots are written in turn, each with a number and a sum, so that a write that a power cut
/// ends leaves the one before. It is open only while it is read or written: a daemon may have
/// thousands. Any thread.
final class PositionFile: Sendable {
  struct Content: Equatable, Sendable {
    /// Up to there it has everything.
    var acknowledged: ChangePosition?
    /// The end of the batch that may be on its way.
    var intended: ChangePosition?
    /// Whether an earlier version began to send that batch, with another key.
    var isOfEarlierVersion = false
    /// The part of that batch that may be on its way, if the batch is divided. The parts before it
    /// were taken or given up.
    var part: SentPart?
    /// The form in which that batch is sent; nil if it has none, or if an earlier version sent it.
    var form: String?
    /// The selection that the position is for; nil if the cursor in the file knows it.
    var selection: String?
    /// Tells the new beginning that may be on its way from all others.
    var beginning: String?
    /// The end of the last batch that was refused as a whole: a batch that begins before it may
    /// have changes that the receiver took with the refused one.
    var refusedThrough: UInt64 = 0
    /// An operator's requests that are not done.
    var asked: AskedAction?

    /// Notes that the consumer has everything up to a position.
    mutating func acknowledge(_ position: ChangePosition) {
      acknowledged = position
      beginning = nil
      if position.version >= refusedThrough { refusedThrough = 0 }
      guard let intended, intended.orLater(position) == position else { return }
      self.intended = nil
      part = nil
      form = nil
      isOfEarlierVersion = false
    }
  }

  private struct State {
    var content = Content()
    var number: UInt64 = 0
    /// The file that is noted beside the position.
    var noted: WatchedPlace?
    /// Whether deliveries are noted in the present boot.
    var isOfThisBoot = false
    var notesDeliveries = false
    /// Whether the last write is on the disk. Otherwise the next one replaces it, and not the one
    /// before.
    var isSynchronized = true
  }

  private static let slotBytes = 512
  /// The place of the boot in which deliveries were noted last.
  private static let bootOffset = 2 * slotBytes + WatchedPlace.bytesMax
  /// A random text that each boot has; empty if it cannot be read.
  private static let boot: [UInt8] = {
    let data = FileManager.default.contents(atPath: "/proc/sys/kernel/random/boot_id")
    return Array((data ?? Data()).prefix(36))
  }()
  /// The last word of this version's lines; earlier ones have a word less.
  private static let mark = "2"
  /// The same for a line with more about the batch, or with a selection, in two words more.
  private static let dividedMark = "3"
  private let consumed: WatchedPlace?
  private let path: String
  private let state: Lock<State>

  /// Opens it, or makes it.
  ///
  /// - Parameter consumed: the file that the position is for, which is noted beside it.
  init(_ path: String, of consumed: WatchedPlace? = nil) throws {
    self.path = path
    self.consumed = consumed
    let descriptor = try Self.open(path)
    defer { close(descriptor) }
    let known = Self.read(descriptor)
    state = Lock(known)
    guard known.number > 0 else { return }
    // A process that was killed may have left a note that is not on the disk.
    guard fdatasync(descriptor) == 0 else { throw ToolError("cannot write", path, errno: errno) }
    try state.withLock { try note(&$0, descriptor) }
  }

  private static func open(_ path: String) throws -> Int32 {
    let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw ToolError("cannot open", path, errno: errno) }
    return descriptor
  }

  var content: Content { state.withLock { $0.content } }

  /// The position in a file, and what it is for; nil if that is not known.
  static func noted(in path: String) -> (place: WatchedPlace, content: Content)? {
    let known = read(path)
    return known.noted.map { ($0, known.content) }
  }

  /// The position up to which the consumer has everything; nil for none, or if the file is missing.
  static func acknowledged(in path: String) -> ChangePosition? { read(path).content.acknowledged }

  private static func read(_ path: String) -> State {
    let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return State() }
    defer { close(descriptor) }
    return read(descriptor)
  }

  private static func read(_ descriptor: Int32) -> State {
    var bytes = [UInt8](repeating: 0, count: bootOffset + 36)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    bytes.removeLast(bytes.count - max(0, count))
    var best = State()
    for slot in 0..<2 {
      let part = bytes.dropFirst(slot * slotBytes).prefix(slotBytes)
      guard let found = parse(part), found.number > best.number else { continue }
      best = found
    }
    best.noted = WatchedPlace(bytes: bytes.dropFirst(2 * slotBytes))
    let noted = bytes.dropFirst(bootOffset)
    best.isOfThisBoot = !boot.isEmpty && noted.elementsEqual(boot)
    best.notesDeliveries = noted.contains { $0 != 0 }
    return best
  }

  /// Notes what the position is for.
  private func note(_ state: inout State, _ descriptor: Int32) throws {
    // Somebody may have deleted the file, or its content, meanwhile.
    let isEmpty = lseek(descriptor, 0, SEEK_END) == 0
    if isEmpty { state.isOfThisBoot = false }
    guard let consumed, consumed != state.noted || isEmpty else { return }
    try write(consumed.bytes, at: 2 * Self.slotBytes, descriptor)
    try synchronize(descriptor)
    state.noted = consumed
  }

  private func write(_ bytes: [UInt8], at offset: Int, _ descriptor: Int32) throws {
    guard pwrite(descriptor, bytes, bytes.count, off_t(offset)) == bytes.count else {
      throw ToolError("cannot write", path, errno: errno)
    }
  }

  private func synchronize(_ descriptor: Int32) throws {
    guard fdatasync(descriptor) == 0 else { throw ToolError("cannot write", path, errno: errno) }
  }

  /// Changes it, durably.
  func update(_ change: (inout Content) -> Void) throws {
    try state.withLock { state in
      var content = state.content
      change(&content)
      if content == state.content { return }
      try put(content, &state, isDurable: true)
    }
  }

  private func put(
    _ content: Content, _ state: inout State, isDelivery: Bool = false, isDurable: Bool
  ) throws {
    let descriptor = try Self.open(path)
    defer { close(descriptor) }
    try note(&state, descriptor)
    if isDelivery { try noteBoot(&state, descriptor) }
    var next = state
    next.content = content
    next.number += next.isSynchronized ? 1 : 2
    try write(Self.text(next), at: Int(next.number % 2) * Self.slotBytes, descriptor)
    if isDurable { try synchronize(descriptor) }
    next.isSynchronized = isDurable
    state = next
  }

  // MARK: - Deliveries

  /// The end of the last batch that the consumer may have got. Nil if that is not known: nothing
  /// was noted, or a power cut may have lost a note.
  var delivered: ChangePosition? {
    state.withLock { state in
      state.isOfThisBoot ? state.content.intended ?? state.content.acknowledged : nil
    }
  }

  /// Whether each delivery was noted with its beginning and its end. Earlier versions did not.
  var notesDeliveries: Bool { state.withLock { $0.notesDeliveries } }

  /// The end of the batch that may be on its way, if such a version began to send it.
  var earlierIntended: ChangePosition? {
    state.withLock { Self.isOfEarlierVersion($0) ? $0.content.intended : nil }
  }

  private static func isOfEarlierVersion(_ state: State) -> Bool {
    !state.notesDeliveries && !boot.isEmpty
  }

  /// Notes a batch that is delivered next.
  ///
  /// - Parameters:
  ///   - start: the consumer has everything up to there; nil if it needs a full resync.
  ///   - part: the part of the batch that is delivered; nil for all of it.
  ///   - form: in which it is sent; nil if another attempt may have any.
  ///   - isDurable: whether the note is on the disk when this returns. Otherwise it survives the
  ///     process, and does not count after another boot.
  func noteDelivery(
    from start: ChangePosition?, upTo end: ChangePosition, part: SentPart? = nil,
    form: String? = nil, isDurable: Bool
  ) throws {
    try state.withLock { state in
      var content = state.content
      // What an earlier version began to send stays known as that.
      let isAgain = Self.isOfEarlierVersion(state) && content.intended == end
      if let start { content.acknowledged = start }
      if content.intended != end { content.isOfEarlierVersion = false }
      content.intended = end
      content.part = part
      // A batch that was sent without a form goes on without one.
      if state.content.intended != end || state.content.form != nil { content.form = form }
      if state.isOfThisBoot, content == state.content { return }
      try put(content, &state, isDelivery: !isAgain, isDurable: isDurable)
    }
  }

  private func noteBoot(_ state: inout State, _ descriptor: Int32) throws {
    if state.isOfThisBoot || Self.boot.isEmpty { return }
    try write(Self.boot, at: Self.bootOffset, descriptor)
    state.isOfThisBoot = true
    state.notesDeliveries = true
  }

  // MARK: - Lines

  private static func text(_ state: State) -> [UInt8] {
    let content = state.content
    var parts = [
      "\(state.number)", content.acknowledged?.description ?? "-",
      content.intended?.description ?? "-",
    ]
    let more = [
      content.part?.description, content.form, content.selection, content.beginning,
      content.asked?.description,
    ]
    if more.contains(where: { $0 != nil }) || content.refusedThrough > 0 {
      let words = more.map { $0 ?? "-" }.joined(separator: ":")
      parts += ["\(content.refusedThrough)", words, dividedMark]
    } else if !content.isOfEarlierVersion {
      parts.append(mark)
    }
    let words = parts.joined(separator: " ")
    var bytes = Array("\(words) \(sum(words))\n".utf8)
    bytes += [UInt8](repeating: 0x20, count: slotBytes - bytes.count)
    return bytes
  }

  private static func parse(_ bytes: ArraySlice<UInt8>) -> State? {
    guard let end = bytes.firstIndex(of: 0x0a) else { return nil }
    let parts = String(decoding: bytes[..<end], as: UTF8.self).splitASCII(" ").map(String.init)
    let isDivided = parts.count == 7 && parts[5] == dividedMark
    guard isDivided || parts.count == 4 || parts.count == 5 && parts[3] == mark,
      let number = UInt64(parts[0]),
      sum(parts.dropLast().joined(separator: " ")) == parts[parts.count - 1]
    else { return nil }
    let intended = ChangePosition(parts[2])
    let more = isDivided ? parts[4].splitASCII(":").map(String.init) : []
    let given = more.dropFirst(more.first == "-" ? 1 : 4).map { $0 == "-" ? nil : $0 }
    let rest = given + [String?](repeating: nil, count: 4)
    return State(
      content: Content(
        acknowledged: ChangePosition(parts[1]), intended: intended,
        isOfEarlierVersion: parts.count == 4 && intended != nil,
        part: SentPart(more.prefix(4).joined(separator: ":")),
        form: rest[0], selection: rest[1], beginning: rest[2],
        refusedThrough: isDivided ? UInt64(parts[3]) ?? 0 : 0,
        asked: rest[3].flatMap(AskedAction.init)),
      number: number)
  }

  /// FNV-1a: against torn writes, not against people.
  private static func sum(_ text: String) -> String {
    String(
      text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }, radix: 16)
  }
}

/// A part of a batch that was divided because its receiver refused it: some of the items of a
/// class, which are its objects, and the beginning and the end of the class.
struct SentPart: Equatable, Sendable, CustomStringConvertible {
  /// The class in the order of the batch.
  var line: Int
  /// The items of the class.
  var items: Range<Int>
  /// Counted from 1, over the whole batch.
  var number: Int

  var description: String { "\(line):\(items.lowerBound):\(items.upperBound):\(number)" }

  init(line: Int, items: Range<Int>, number: Int) {
    self.line = line
    self.items = items
    self.number = number
  }

  init?(_ text: String) {
    let numbers = text.splitASCII(":").compactMap { Int($0) }
    guard numbers.count == 4, numbers.allSatisfy({ $0 >= 0 }), numbers[1] <= numbers[2] else {
      return nil
    }
    self.init(line: numbers[0], items: numbers[1]..<numbers[2], number: numbers[3])
  }
}

extension ChangePosition {
  /// The other one, if it is of the same history and not before this one.
  func orLater(_ other: ChangePosition?) -> ChangePosition {
    guard let other, other.historyID == historyID, other.version >= version else { return self }
    return other
  }
}
