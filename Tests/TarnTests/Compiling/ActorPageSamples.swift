import Foundation
import Testing

/// The samples of the page "Use Realm with Actors", as it has them, but for line breaks. What is
/// synchronized with a server is left out, and so is what the page shows a second time as a part of
/// one of these: `createTodo`, `createObject`, `getTodoAsStruct`, the passing of a reference.
enum ActorPageSamples {
  /// One sample, which needs nothing but what comes before it on the page.
  struct Sample: CustomTestStringConvertible {
    let name: String
    /// What it declares.
    let code: String
    /// What it then does outside of all declarations.
    var start: [String] = []
    /// A line for its end by which a program that is run says what has come of it.
    var shows = ""

    var testDescription: String { name }

    /// A program of its own.
    var client: String { start.isEmpty ? code : ([code] + start).joined(separator: "\n") }

    /// In a type, because several samples declare the same names.
    fileprivate var inType: String {
      var body = code
      if let first = start.first {
        let lines = ["func mainThreadFunction() async throws {", first, code] + start.dropFirst()
        body = lines.joined(separator: "\n") + "\n}"
      }
      // Before the brace that ends its last function.
      return "struct \(name) {\n" + body.dropLast() + shows + "\n}\n}\n"
    }
  }

  static let model = """
    import Foundation
    import Tarn
    class Todo: Object {
      @Persisted(primaryKey: true) var _id: ObjectId
      @Persisted var name: String
      @Persisted var owner: String
      @Persisted var status: String
    }
    @MainActor func useTheRealm(realm: Realm) async throws {
      print("uses a Realm with \\(realm.objects(Todo.self).count) objects")
    }

    """

  static let realmActor = """
    actor RealmActor {
      // An implicitly-unwrapped optional is used here to let us pass `self` to
      // `Realm(actor:)` within `init`
      var realm: Realm!
      init() async throws {
        realm = try await Realm(actor: self)
      }
      var count: Int {
        realm.objects(Todo.self).count
      }
      func createTodo(name: String, owner: String, status: String) async throws {
        try await realm.asyncWrite {
          realm.create(Todo.self, value: [
            "_id": ObjectId.generate(),
            "name": name,
            "owner": owner,
            "status": status
          ])
        }
      }
      func getTodoOwner(forTodoNamed name: String) -> String {
        let todo = realm.objects(Todo.self).where {
          $0.name == name
        }.first!
        return todo.owner
      }
      struct TodoStruct {
        var id: ObjectId
        var name, owner, status: String
      }
      func getTodoAsStruct(forTodoNamed name: String) -> TodoStruct {
        let todo = realm.objects(Todo.self).where {
          $0.name == name
        }.first!
        return TodoStruct(id: todo._id, name: todo.name, owner: todo.owner, status: todo.status)
      }
      func updateTodo(_id: ObjectId, name: String, owner: String, status: String) async throws {
        try await realm.asyncWrite {
          realm.create(Todo.self, value: [
            "_id": _id,
            "name": name,
            "owner": owner,
            "status": status
          ], update: .modified)
        }
      }
      func deleteTodo(id: ObjectId) async throws {
        try await realm.asyncWrite {
          let todoToDelete = realm.object(ofType: Todo.self, forPrimaryKey: id)
          realm.delete(todoToDelete!)
        }
      }
      func close() {
        realm = nil
      }
    }

    """

  private static let backgroundActor = """
    actor BackgroundActor {
      public func deleteTodo(tsrToTodo tsr: ThreadSafeReference<Todo>) throws {
        let realm = try! Realm()
        try realm.write {
          // Resolve the thread safe reference on the Actor where you want to use it.
          // Then, do something with the object.
          let todoOnActor = realm.resolve(tsr)
          realm.delete(todoOnActor!)
        }
      }
    }

    """

  private static let opening = """
    @MainActor
    func mainThreadFunction() async throws {
      // These are identical: the async init produces a
      // MainActor-isolated Realm if no actor is supplied
      let realm1 = try await Realm()
      let realm2 = try await Realm(actor: MainActor.shared)
      try await useTheRealm(realm: realm1)
    }
    """

  private static let configuring = """
    @MainActor
    func mainThreadFunction() async throws {
      let username = "Galadriel"
      // Customize the default realm config
      var config = Realm.Configuration.defaultConfiguration
      config.fileURL!.deleteLastPathComponent()
      config.fileURL!.appendPathComponent(username)
      config.fileURL!.appendPathExtension("realm")
      // Open an actor-isolated realm with a specific configuration
      let realm = try await Realm(configuration: config, actor: MainActor.shared)
      try await useTheRealm(realm: realm)
    }
    """

  private static let global = """
    // A simple example of a custom global actor
    @globalActor actor BackgroundActor: GlobalActor {
      static var shared = BackgroundActor()
    }
    @BackgroundActor
    func backgroundThreadFunction() async throws {
      // Explicitly specifying the actor is required for anything that is not MainActor
      let realm = try await Realm(actor: BackgroundActor.shared)
      try await realm.asyncWrite {
        _ = realm.create(Todo.self, value: [
          "name": "Pledge fealty and service to Gondor",
          "owner": "Pippin",
          "status": "In Progress"
        ])
      }
      // Thread-confined Realms would sometimes throw an exception here, as we
      // may end up on a different thread after an `await`
      let todoCount = realm.objects(Todo.self).count
      print("The number of Realm objects is: \\(todoCount)")
    }
    @MainActor
    func mainThreadFunction() async throws {
      try await backgroundThreadFunction()
    }
    """

  private static let usingSynchronously = """
    func createObject(in actor: isolated RealmActor) async throws {
      // Because this function is isolated to this actor, you can use
      // realm synchronously in this context without async/await keywords
      try actor.realm.write {
        actor.realm.create(Todo.self, value: [
          "name": "Keep it secret",
          "owner": "Frodo",
          "status": "In Progress"
        ])
      }
      let taskCount = actor.count
      print("The actor currently has \\(taskCount) tasks")
    }
    """

  private static let usingAsynchronously = """
    func createObject() async throws {
      // Because this function is not isolated to this actor,
      // you must await operations completed on the actor
      try await actor.createTodo(
        name: "Take the ring to Mount Doom", owner: "Frodo", status: "In Progress")
      let taskCount = await actor.count
      print("The actor currently has \\(taskCount) tasks")
    }
    """

  private static let passingValues = """
    @MainActor
    func mainThreadFunction() async throws {
      // Create an object in an actor-isolated realm.
      // Pass primitive data to the actor instead of
      // creating the object here and passing the object.
      let actor = try await RealmActor()
      try await actor.createTodo(
        name: "Prepare fireworks for birthday party", owner: "Gandalf", status: "In Progress")
      // Later, get information off the actor-confined realm
      let todoOwner = await actor.getTodoOwner(
        forTodoNamed: "Prepare fireworks for birthday party")
    }
    """

  private static let passingStructs = """
    @MainActor
    func mainThreadFunction() async throws {
      // Create an object in an actor-isolated realm.
      let actor = try await RealmActor()
      try await actor.createTodo(
        name: "Leave the ring on the mantle", owner: "Bilbo", status: "In Progress")
      // Get information as a struct or other Sendable type.
      let todoAsStruct = await actor.getTodoAsStruct(forTodoNamed: "Leave the ring on the mantle")
    }
    """

  private static let passingKeys = """
    \(backgroundActor)
    // Execute code on a specific actor - in this case, the @MainActor
    @MainActor
    func mainThreadFunction() async throws {
      // Create an object off the main actor
      func createObject(in actor: isolated BackgroundActor) async throws -> ObjectId {
        let realm = try await Realm(actor: actor)
        let newTodo = try await realm.asyncWrite {
          return realm.create(Todo.self, value: [
            "name": "Pledge fealty and service to Gondor",
            "owner": "Pippin",
            "status": "In Progress"
          ])
        }
        // Share the todo's primary key so we can easily query for it on another actor
        return newTodo._id
      }
      // Initialize an actor where you want to perform background work
      let actor = BackgroundActor()
      let newTodoId = try await createObject(in: actor)
      let realm = try await Realm()
      let todoOnMainActor = realm.object(ofType: Todo.self, forPrimaryKey: newTodoId)
    }
    """

  private static let observingCollections = """
    // Create a simple actor
    \(backgroundActor)
    // Execute some code on a different actor - in this case, the MainActor
    @MainActor
    func mainThreadFunction() async throws {
      let backgroundActor = BackgroundActor()
      let realm = try! await Realm()
      // Create a todo item so there is something to observe
      try await realm.asyncWrite {
        realm.create(Todo.self, value: [
          "_id": ObjectId.generate(),
          "name": "Arrive safely in Bree",
          "owner": "Merry",
          "status": "In Progress"
        ])
      }
      // Get the collection of todos on the current actor
      let todoCollection = realm.objects(Todo.self)
      // Register a notification token, providing the actor where you want to observe changes.
      // This is only required if you want to observe on a different actor.
      let token = await todoCollection.observe(on: backgroundActor, { actor, changes in
        print("A change occurred on actor: \\(actor)")
        switch changes {
        case .initial:
          print("The initial value of the changed object was: \\(changes)")
        case .update(_, let deletions, let insertions, let modifications):
          if !deletions.isEmpty {
            print("An object was deleted: \\(changes)")
          } else if !insertions.isEmpty {
            print("An object was inserted: \\(changes)")
          } else if !modifications.isEmpty {
            print("An object was modified: \\(changes)")
          }
        case .error(let error):
          print("An error occurred: \\(error.localizedDescription)")
        }
      })
      // Update an object to trigger the notification.
      // This example triggers a notification that the object is deleted.
      // We can pass a thread-safe reference to an object to update it on a different actor.
      let todo = todoCollection.where {
        $0.name == "Arrive safely in Bree"
      }.first!
      let threadSafeReferenceToTodo = ThreadSafeReference(to: todo)
      try await backgroundActor.deleteTodo(tsrToTodo: threadSafeReferenceToTodo)
      // Invalidate the token when done observing
      token.invalidate()
    }
    """

  private static let observingObjects = """
    \(backgroundActor)
    // Execute some code on a specific actor - in this case, the MainActor
    @MainActor
    func mainThreadFunction() async throws {
      // Initialize an instance of another actor
      // where you want to do background work
      let backgroundActor = BackgroundActor()
      // Create a todo item so there is something to observe
      let realm = try! await Realm()
      let scourTheShire = try await realm.asyncWrite {
        return realm.create(Todo.self, value: [
          "_id": ObjectId.generate(),
          "name": "Scour the Shire",
          "owner": "Merry",
          "status": "In Progress"
        ])
      }
      // Register a notification token, providing the actor
      let token = await scourTheShire.observe(on: backgroundActor, { actor, change in
        print("A change occurred on actor: \\(actor)")
        switch change {
        case .change(let object, let properties):
          for property in properties {
            print(
          "Property '\\(property.name)' of object \\(object) changed to '\\(property.newValue!)'")
          }
        case .error(let error):
          print("An error occurred: \\(error)")
        case .deleted:
          print("The object was deleted.")
        }
      })
      // Update the object to trigger the notification.
      // This triggers a notification that the object's `status` property has been changed.
      try await realm.asyncWrite {
        scourTheShire.status = "Complete"
      }
      // Invalidate the token when done observing
      token.invalidate()
    }
    """

  static let samples = [
    Sample(name: "Opening", code: opening),
    Sample(name: "Configuring", code: configuring),
    Sample(name: "Global", code: global),
    Sample(
      name: "UsingSynchronously", code: usingSynchronously,
      start: ["let actor = try await RealmActor()", "try await createObject(in: actor)"]),
    Sample(
      name: "UsingAsynchronously", code: usingAsynchronously,
      start: ["let actor = try await RealmActor()", "try await createObject()"]),
    Sample(
      name: "PassingValues", code: passingValues,
      shows: "print(todoOwner)"),
    Sample(
      name: "PassingStructs", code: passingStructs,
      shows: "print(todoAsStruct.owner)"),
    Sample(
      name: "PassingKeys", code: passingKeys,
      shows: "print(todoOnMainActor!.owner)"),
    Sample(name: "ObservingCollections", code: observingCollections),
    Sample(name: "ObservingObjects", code: observingObjects),
  ]

  /// All of them in one program, apart from what they do outside of declarations.
  static let all = model + realmActor + samples.map(\.inType).joined()

  /// What Swift 6 mode asks for: a global actor's instance is a constant. Nothing else.
  static func inSwift6(_ source: String) -> String {
    source.replacingOccurrences(of: "static var shared", with: "static let shared")
  }

  static let main = """
    @main struct Page {
      static func main() async throws {
        Realm.Configuration.defaultConfiguration.fileURL = URL(
          fileURLWithPath: CommandLine.arguments[1])
        try await Opening().mainThreadFunction()
        try await Configuring().mainThreadFunction()
        try await Global().mainThreadFunction()
        try await UsingSynchronously().mainThreadFunction()
        try await UsingAsynchronously().mainThreadFunction()
        try await PassingValues().mainThreadFunction()
        try await PassingStructs().mainThreadFunction()
        try await PassingKeys().mainThreadFunction()
        try await ObservingCollections().mainThreadFunction()
        try await ObservingObjects().mainThreadFunction()
        print("done")
      }
    }
    """
}
