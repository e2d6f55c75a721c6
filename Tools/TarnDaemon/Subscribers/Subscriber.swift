import Dispatch
import Foundation
import Tarn
import TarnStore
import ToolSupport

/// A client of a hub: where it is in each file, and what it has not taken yet.
///
/// Threading: on its hub's queue.
final class Subscriber: Sendable {
  /// A line for the client, which may be long: `rest` has what follows `bytes`.
  struct Line {
    let path: String
    let end: ChangePosition
    let bytes: [UInt8]
    let rest: FeedLine?
  }

  /// What takes bytes to a client. Called on the hub's queue.
  protocol Transport: AnyObject, Sendable {
    /// Takes a piece; calls `Subscriber.isTaken` once it is gone.
    ///
    /// - Returns: whether it is gone already.
    func send(_ bytes: [UInt8], position: ChangePosition, isEnd: Bool) -> Bool
    /// Ends the connection; the reason is for the client.
    func close(_ reason: String)
    /// Sends something without a meaning if the connection was quiet for long, to notice a client
    /// that has left.
    func keepAlive()
  }

  // Confined to the hub's queue.
  private struct State: @unchecked Sendable {  // because: see above
    var positions: [String: ChangePosition] = [:]
    /// The files in which there may be more.
    var pending: [String] = []
    var line: Line?
    /// The next piece of the line.
    var rest: [UInt8]?
    var isBusy = false
    var busySince = DispatchTime.now()
    var hasEnded = false
  }

  private nonisolated(unsafe) var state = State()  // because: on the hub's queue
  private let transport: any Transport
  private let patience: Duration
  private unowned let hub: FeedHub

  /// - Parameter positions: where the client is, by file; of others it gets the state.
  init(
    _ hub: FeedHub, _ transport: any Transport, patience: Duration,
    at positions: [String: ChangePosition]
  ) {
    self.hub = hub
    self.transport = transport
    self.patience = patience
    state.positions = positions
  }

  // MARK: - For the hub

  /// There may be more in a file.
  func begin(_ path: String) {
    if !state.pending.contains(path) { state.pending.append(path) }
  }

  /// A file was replaced: its next line is a new beginning, unless it has the client's position.
  func end(_ path: String) { state.pending.removeAll { $0 == path } }

  var wantsMore: Bool { !state.isBusy && !state.hasEnded }
  func nextPath() -> String? { state.pending.first }
  func position(in path: String) -> ChangePosition? { state.positions[path] }
  func isCurrent(_ path: String) { state.pending.removeAll { $0 == path } }
  func moved(_ path: String, to position: ChangePosition) { state.positions[path] = position }

  func send(_ line: Line) {
    state.line = line
    sendPiece(line.bytes)
  }

  private func sendPiece(_ piece: [UInt8]) {
    guard let line = state.line else { return }
    var piece = piece
    while true {
      let next: [UInt8]?
      do throws(DeliveryFailure) {
        next = try readingBatch { () throws(StorageError) in try line.rest?.next() }
      } catch {
        // What is sent of the line cannot be taken back.
        return drop("\(error)")
      }
      state.isBusy = true
      state.busySince = .now()
      let isGone = transport.send(piece, position: line.end, isEnd: next == nil)
      if next == nil { finishLine() }
      guard isGone, !state.hasEnded else {
        state.rest = next
        return
      }
      state.isBusy = false
      guard let next else { return }
      piece = next
    }
  }

  private func finishLine() {
    guard let line = state.line else { return }
    state.positions[line.path] = line.end
    state.line = nil
  }

  /// The transport has room again.
  func isTaken() {
    guard state.isBusy, !state.hasEnded else { return }
    state.isBusy = false
    if let piece = state.rest.take() { sendPiece(piece) }
    if wantsMore { hub.serve(self) }
  }

  /// Drops a client that does not read, or lets the transport find out whether it is there.
  func check() {
    if state.hasEnded { return }
    guard state.isBusy else { return transport.keepAlive() }
    guard DispatchTime.now() > state.busySince + patience.interval else { return }
    drop("the client did not read for \(patience.rounded) s")
  }

  /// Ends it, and says why.
  func drop(_ reason: String) {
    if state.hasEnded { return }
    state = State(hasEnded: true)
    transport.close(reason)
    hub.remove(self, dropped: true)
  }

  /// The client is gone.
  func isGone() {
    if state.hasEnded { return }
    state = State(hasEnded: true)
    hub.remove(self, dropped: false)
  }
}
