import CDaemon
import Dispatch
import Foundation
import Tarn
import TarnText
import ToolSupport

/// One connection to a watch's socket.
///
/// Threading: on the hub's queue.
final class SocketClient: Subscriber.Transport {
  /// A longer request is refused.
  private static let requestBytesMax = 1 << 16

  // Confined to the hub's queue.
  private struct State {
    var request: [UInt8] = []
    var unsent: ArraySlice<UInt8> = []
    var subscriber: Subscriber?
    var isWriting = false
    var isClosed = false
    /// Keeps this object while the connection is open.
    var me: SocketClient?
  }

  private nonisolated(unsafe) var state = State()  // because: on the hub's queue
  private let descriptor: Int32
  private let hub: FeedHub
  private let settings: SocketSettings
  // because: only touched on the hub's queue, which is also theirs.
  private nonisolated(unsafe) let reading: any DispatchSourceRead
  // because: the same.
  private nonisolated(unsafe) let writing: any DispatchSourceWrite

  init(_ descriptor: Int32, _ hub: FeedHub, _ settings: SocketSettings) {
    self.descriptor = descriptor
    self.hub = hub
    self.settings = settings
    reading = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: hub.queue)
    writing = DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: hub.queue)
  }

  func start() {
    state.me = self
    reading.setEventHandler { [weak self] in self?.read() }
    writing.setEventHandler { [weak self] in self?.writeRest() }
    // Closed when neither source needs it any more.
    let ends = DispatchGroup()
    ends.enter()
    ends.enter()
    reading.setCancelHandler { ends.leave() }
    writing.setCancelHandler { ends.leave() }
    ends.notify(queue: hub.queue) { [descriptor] in Foundation.close(descriptor) }
    reading.resume()
    hub.queue.asyncAfter(deadline: .now() + settings.patience.interval) { [weak self] in
      guard let self, state.subscriber == nil else { return }
      refuse("no request came within \(settings.patience.rounded) s")
    }
  }

  // MARK: - Reading

  private func read() {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    while !state.isClosed {
      let count = Foundation.read(descriptor, &bytes, bytes.count)
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN { return }
      guard count > 0 else { return gone() }
      // What follows the request says nothing.
      if state.subscriber != nil { continue }
      state.request += bytes[..<count]
      if let end = state.request.firstIndex(of: 0x0a) {
        subscribe(Array(state.request[..<end]))
      } else if state.request.count > Self.requestBytesMax {
        refuse("the request is longer than \(Self.requestBytesMax) bytes")
      }
    }
  }

  private func subscribe(_ line: [UInt8]) {
    state.request = []
    guard hub.subscriberCount < settings.clientsMax else {
      return refuse("there are \(settings.clientsMax) clients already")
    }
    do {
      let subscriber = Subscriber(
        hub, self, patience: settings.patience, at: try Subscription(line, hub).point)
      state.subscriber = subscriber
      hub.add(subscriber)
    } catch {
      refuse("\(error)")
    }
  }

  // MARK: - Writing

  func send(_ bytes: [UInt8], id: () -> String?) -> Bool {
    state.unsent = bytes[...]
    write()
    return state.unsent.isEmpty
  }

  private func write() {
    while !state.unsent.isEmpty, !state.isClosed {
      let count = state.unsent.withUnsafeBytes { raw in
        Foundation.send(descriptor, raw.baseAddress, raw.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN { return waitToWrite(true) }
      guard count > 0 else { return gone() }
      state.unsent = state.unsent.dropFirst(count)
    }
  }

  private func waitToWrite(_ waits: Bool) {
    if waits == state.isWriting { return }
    state.isWriting = waits
    if waits { writing.resume() } else { writing.suspend() }
  }

  private func writeRest() {
    write()
    guard state.unsent.isEmpty, !state.isClosed else { return }
    waitToWrite(false)
    state.subscriber?.isTaken()
  }

  // MARK: - The end

  /// The line that tells a client why it is not served.
  static func refusal(_ reason: String) -> [UInt8] {
    JSONText.bytes(.object([JSONMember("error", .string(reason))])) + [0x0a]
  }

  private func refuse(_ reason: String) {
    guard !state.isClosed else { return }
    let line = Self.refusal(reason)
    _ = Foundation.send(descriptor, line, line.count, Int32(MSG_NOSIGNAL))
    end()
  }

  /// The source that reads notices a client that leaves.
  var hasLeft: Bool { false }
  func keepAlive() {}

  func close(_ reason: String) {
    // Half a line cannot be ended; then the client only sees the end.
    if state.unsent.isEmpty { refuse(reason) } else { end() }
  }

  private func gone() {
    let subscriber = state.subscriber
    end()
    subscriber?.isGone()
  }

  private func end() {
    if state.isClosed { return }
    state.isClosed = true
    // A suspended source must not be released.
    waitToWrite(true)
    writing.cancel()
    reading.cancel()
    // The subscriber holds this object as its transport.
    state = State(isClosed: true)
  }
}
