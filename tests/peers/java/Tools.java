import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.kafka.common.utils.internals.Exit;
import org.slf4j.LoggerFactory;

/**
 * Runs Kafka's command-line tools one after another in one JVM, for starting one for each of a hundred commands takes minutes.
 *
 * <p>A command is a line: seconds, then main class, standard input and arguments, each a dot and base64, with spaces between. Its answer is
 * a line likewise: exit code, standard output, standard error. The code is -1 for a command that isn't done in its time; then this process ends.
 */
public final class Tools {
    private static final int NOT_DONE = -1;
    private static Integer code;
    private static final List<Runnable> HOOKS = new ArrayList<>();

    /** Unwinds a tool that asked to end. */
    private static final class Ended extends Error {
        Ended() {
            super("ended", null, false, false);
        }
    }

    public static void main(String[] none) throws Exception {
        PrintStream answers = System.out;
        PrintStream errors = System.err;
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        // The log's appender takes System.err as it is now, so that a client's warnings are no output of a tool.
        LoggerFactory.getLogger(Tools.class).debug("begun");
        Exit.setExitProcedure((status, message) -> {
            // A tool may catch what unwinds it and end once more: the first time counts.
            if (code == null) {
                code = status;
            }
            throw new Ended();
        });
        Exit.setShutdownHookAdder((name, hook) -> HOOKS.add(hook));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] fields = line.split(" ");
            List<String> words = Arrays.stream(fields).skip(1).map(Tools::decoded).collect(Collectors.toList());
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            ByteArrayOutputStream err = new ByteArrayOutputStream();
            System.setIn(new ByteArrayInputStream(words.get(1).getBytes(StandardCharsets.UTF_8)));
            System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
            System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
            code = null;
            HOOKS.clear();
            Thread tool = new Thread(() -> run(words.get(0), words.subList(2, words.size()).toArray(new String[0])), "tool");
            tool.setDaemon(true);
            tool.start();
            tool.join(Long.parseLong(fields[0]) * 1000);
            boolean done = !tool.isAlive();
            System.setOut(errors);
            System.setErr(errors);
            answers.println((done ? code == null ? 0 : code : NOT_DONE) + " " + encoded(out) + " " + encoded(err));
            answers.flush();
            if (!done) {
                for (StackTraceElement at : tool.getStackTrace()) {
                    errors.println("    at " + at);
                }
                Runtime.getRuntime().halt(1);
            }
        }
        Runtime.getRuntime().halt(0);
    }

    /** As java itself would: a main that throws is told on standard error and ends with 1. */
    private static void run(String main, String[] args) {
        try {
            Class.forName(main).getMethod("main", String[].class).invoke(null, (Object) args);
        } catch (InvocationTargetException wrapped) {
            Throwable cause = wrapped.getCause();
            if (!(cause instanceof Ended)) {
                System.err.println("Exception in thread \"main\" " + cause);
                code = code == null ? 1 : code;
            }
        } catch (ReflectiveOperationException error) {
            System.err.println(error);
            code = 127;
        }
        // What the end of its process would run: some tools send their last records by it.
        HOOKS.forEach(Runnable::run);
    }

    private static String decoded(String field) {
        return new String(Base64.getDecoder().decode(field.substring(1)), StandardCharsets.UTF_8);
    }

    private static String encoded(ByteArrayOutputStream bytes) {
        return "." + Base64.getEncoder().encodeToString(bytes.toByteArray());
    }
}
